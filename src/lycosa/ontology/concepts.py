"""The concepts of a subject, their names, and the associations between them."""

import difflib
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

HIERARCHY = "superclass-subclass"  # the kind of all hierarchical associations, in every syntax
INSTANCE_OF = "instance of"  # the kind of the association between a topic and its type
_CROWD = 50  # members of one association shown with each of them


class Name(Struct, frozen=True, gc=False):
    """One way to write a concept."""

    text: str
    language: str = ""  # two letters, with or without a region; empty: any


class Concept(Struct, frozen=True):
    """One concept of the subject: a topic of a topic map, a class, an individual, a thesaurus entry."""

    id: str  # the topic's id, or the last part of the IRI if that is unique
    names: tuple[Name, ...] = ()  # the preferred one first
    identifiers: tuple[str, ...] = ()  # its IRIs

    @property
    def label(self) -> str:
        """The name to display."""
        return self.names[0].text if self.names else self.id


class Association(Struct, frozen=True):
    """An association between concepts, and its kind."""

    kind: str
    members: tuple[str, ...]  # ids; in a hierarchy two, the broader concept first
    hierarchy: bool = False  # superclass and subclass


class Concepts:
    """A map of the subject in memory, independent of its file format."""

    def __init__(self, concepts: Iterable[Concept], associations: Iterable[Association], source: str = "") -> None:
        self.source = source  # the file's name, for messages
        self.associations = tuple(associations)
        self._by_id = {concept.id: concept for concept in concepts}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self._by_id.values())

    def __getitem__(self, wanted: str) -> Concept:
        return self._by_id[wanted]

    def __contains__(self, wanted: object) -> bool:
        return wanted in self._by_id

    def find(self, wanted: str) -> list[str]:
        """The ids a user may mean: an exact id or IRI, otherwise an id, a name or the end of an IRI, ignoring case."""
        if wanted in self._by_id:
            return [wanted]
        exact = [concept.id for concept in self if wanted in concept.identifiers]
        if exact:
            return exact
        text = clean(wanted).casefold()
        return [concept.id for concept in self if text in _spellings(concept)]

    def nearest(self, wanted: str, most: int = 3) -> list[str]:
        """The labels most similar to the text, for an error message."""
        labels = {spelling: concept.label for concept in self for spelling in _spellings(concept)}
        close = difflib.get_close_matches(clean(wanted).casefold(), labels, n=2 * most, cutoff=0.5)
        return list(dict.fromkeys(labels[spelling] for spelling in close))[:most]

    def narrower(self) -> dict[str, list[str]]:
        """Each concept with those directly below it."""
        below: dict[str, list[str]] = {concept.id: [] for concept in self}
        for association in self.associations:
            if association.hierarchy:
                wide, narrow = association.members
                if narrow not in below[wide]:
                    below[wide].append(narrow)
        return below

    def related(self) -> dict[str, list[tuple[str, str]]]:
        """Each concept with (kind, other concept) for all other associations; of large ones, only the first members."""
        beside: dict[str, list[tuple[str, str]]] = {concept.id: [] for concept in self}
        for association in self.associations:
            if not association.hierarchy:
                shown = association.members[:_CROWD]
                for member in association.members:
                    beside[member] += [(association.kind, other) for other in shown if other != member]
        return beside


def _spellings(concept: Concept) -> set[str]:
    written = [concept.id, *(name.text for name in concept.names), *map(tail, concept.identifiers)]
    return {text.casefold() for text in written}


def clean(text: str) -> str:
    """A name as one printable line: files from others may contain control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def tail(iri: str) -> str:
    """The last part of an IRI or reference."""
    return re.split(r"[#/:]", iri.rstrip("#/:"))[-1]


def spaced(name: str) -> str:
    """Split an identifier into words: producedBy and produced_by become 'produced by'."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return clean(re.sub(r"[_\-.+]+", " ", apart))


def in_order(names: Iterable[tuple[int, Name]]) -> tuple[Name, ...]:
    """Each name once: lower rank first, then names without a language, English ones, and the others."""
    ranked = sorted(names, key=lambda pair: (pair[0], _language_rank(pair[1].language)))
    return tuple(dict.fromkeys(name for _, name in ranked if name.text))


def _language_rank(language: str) -> int:
    return 0 if not language else 1 if language.startswith("en") else 2
