"""How much does each concept matter? Four weights, by its relation to the focus."""

from collections.abc import Collection
from typing import Annotated

from msgspec import Meta, Struct

from lycosa.ontology.concepts import Concepts

Weight = Annotated[float, Meta(ge=0, le=1)]


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """If several apply to a concept, the highest counts."""

    focus: Weight = 1.0
    hierarchy: Weight = 0.8  # directly above or below a focal concept
    association: Weight = 0.5  # linked to one by any other association
    rest: Weight = 0.1


_STANDARD = Weights()


def roles(concepts: Concepts, focus: Collection[str]) -> dict[str, set[str]]:
    """The relations of each concept to the focus: names of the four weights, always including `rest`."""
    found = {concept.id: {"rest"} for concept in concepts}
    focus = set(focus)
    for wanted in focus:
        found[wanted].add("focus")
    for association in concepts.associations:
        role = "hierarchy" if association.hierarchy else "association"
        focal = focus.intersection(association.members)
        for member in association.members if focal else ():
            if len(focal) > 1 or member not in focal:
                found[member].add(role)
    return found


def weigh(concepts: Concepts, focus: Collection[str], weights: Weights = _STANDARD) -> dict[str, float]:
    """The weight of every concept."""
    return {id: max(getattr(weights, role) for role in found) for id, found in roles(concepts, focus).items()}
