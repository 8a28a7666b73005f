"""Rules between classes: pages of class A link to pages of class B with probability p. Chained, they lead to a target.

    A -> B (p)      p = pages of class B that pages of class A link to / all pages that pages of class A link to

rules.json stores counts, so that the rules of each class sum to 1 by construction, and the word weights that predict
where links lead, and what the pages they lead to are worth:

    {"format": 4, "classes": ["CH", "DH"], "counts": {"DH": {"CH": 8, "DH": 2}}, "temperature": 1.5,
     "links": {"CH": {"bias": -1.2, "words": {"“cours”": 2.1, "/courses": 1.3, "title class": 0.8, "near exam": 0.4}}},
     "values": {"CH": {"bias": -0.3, "words": {"title class": 1.1}}}}
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Meta, Struct

from lycosa.files import unwritable, write_whole
from lycosa.strategy.link_words import LinkModel, LinkWords
from lycosa.types import BadInput

NAME = "rules.json"
FORMAT = 4
_WEIGHTS = 3  # the first format with word weights
_BEFORE = ("words", "pages")  # in earlier formats: word counts, which are less informative
Rules = Mapping[str, Mapping[str, float]]
Merge = Literal["sum", "max"]
Count = Annotated[float, Meta(ge=0, le=1e15)]


@runtime_checkable
class KnowsClasses(Protocol):
    """A judge of a topic with classes."""

    def targets(self, known: Sequence[str]) -> list[str]: ...  # those of these classes that are on topic


class RuleBase(Struct, frozen=True, forbid_unknown_fields=True):
    """For each class, how many distinct pages of every class its pages link to."""

    classes: list[str]  # all classes of the topic when the links were counted
    counts: dict[str, dict[str, Count]] = {}
    temperature: Annotated[float, Meta(gt=0)] = 1.0  # at which P(class | page) best predicts where its links lead
    links: dict[str, LinkWords] = {}  # by class: the words of links that lead to its pages
    values: dict[str, LinkWords] = {}  # by class: the words of links to pages that are worth much if it is sought
    made_from: str = ""  # digest of the examples, if a crawl made this file by itself
    format: int = FORMAT

    @property
    def pages(self) -> float:
        """The linked pages that were counted, once for each class that links to them."""
        return sum(sum(row.values()) for row in self.counts.values())

    def rules(self) -> dict[str, dict[str, float]]:
        """Return, for each class, the classes it links to with their probabilities."""
        totals = {source: sum(row.values()) for source, row in self.counts.items()}
        return {
            source: {target: pages / totals[source] for target, pages in row.items() if pages}
            for source, row in self.counts.items()
            if totals[source]
        }

    def scores(self, targets: Collection[str], max_depth: int, merge: Merge = "sum") -> dict[str, float]:
        """Score the links of a page by its class; classes without a path to the targets are left out.

        A path has at most `max_depth` rules and no class twice. The targets together form one class that ends a path;
        from a target itself only the single step back to the targets counts. So a sum over paths is at most 1: the
        paths are the different ways of reaching the targets for the first time.
        """
        rules = self.rules()
        to_target = {source: sum(row.get(target, 0.0) for target in set(targets)) for source, row in rules.items()}
        onward = {
            source: {}
            if source in targets
            else {via: p for via, p in row.items() if via in rules and via not in targets}
            for source, row in rules.items()
        }
        best = _best(to_target, onward, max_depth)
        if merge == "sum":
            total = _total(to_target, onward, max_depth)
            best = {source: max(score, total[source]) for source, score in best.items()}  # total may be rounded
        return best

    def link_model(self, targets: Collection[str]) -> LinkModel:
        """Return the link model for the given target classes."""
        return LinkModel(
            *([models[name] for name in targets if name in models] for models in (self.links, self.values))
        )


def count(classes: Iterable[str], links: Iterable[tuple[str, str, str]], temperature: float = 1.0) -> RuleBase:
    """Count rules from links: class of the page, URL of the linked page, its class. Each distinct link counts once."""
    counts: dict[str, dict[str, float]] = {}
    for source, _, target in dict.fromkeys(links):
        row = counts.setdefault(source, {})
        row[target] = row.get(target, 0) + 1
    return RuleBase(sorted(set(classes)), counts, temperature)


def load(path: Path) -> RuleBase:
    """Load rules from a file, or raise an error that says in one line why they cannot be used."""
    try:
        data = path.read_bytes()
        version = msgspec.json.decode(data, type=_Version).format
        if version > FORMAT:
            raise BadInput(f"{path}: written by a newer Lycosa (format {version}; this one reads up to {FORMAT})")
        read = msgspec.json.decode(data, type=dict)
        found = msgspec.convert({key: read[key] for key in read if version >= _WEIGHTS or key not in _BEFORE}, RuleBase)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a file of rules: {str(error) or 'nested too deeply'}") from None
    known = set(found.classes)
    named = {
        "counts": [*found.counts, *chain.from_iterable(found.counts.values())],
        "links": found.links,
        "values": found.values,
    }
    for where, names in named.items():
        for name in names:
            if name not in known:
                raise BadInput(f"{path}: {where}: {name!r} is not one of the classes")
    return found


def save(rules: RuleBase, path: Path) -> None:
    """Write the file atomically."""
    try:
        write_whole(path, msgspec.json.format(msgspec.json.encode(rules), indent=1) + b"\n")
    except OSError as error:
        raise unwritable(path, error) from None


class _Version(Struct):
    format: int


def _best(to_target: Mapping[str, float], onward: Rules, max_depth: int) -> dict[str, float]:
    """Return the most probable path of each class. It has no cycles, since a detour is never more probable."""
    best = {source: chance for source, chance in to_target.items() if chance}
    for _ in range(max_depth - 1):
        longer = {
            source: max((p * best.get(via, 0.0) for via, p in row.items()), default=0.0)
            for source, row in onward.items()
        }
        best = {source: score for source in onward if (score := max(to_target[source], longer[source]))}
    return best


def _total(to_target: Mapping[str, float], onward: Rules, max_depth: int) -> dict[str, float]:
    """Return the sum over all paths of each class, enumerated except for the last two rules."""
    in_two = {source: sum(p * to_target[via] for via, p in row.items()) for source, row in onward.items()}

    def walk(path: tuple[str, ...], left: int) -> float:
        here = path[-1]
        if left == 1:
            return to_target[here]
        if left == 2:  # over all classes at once, minus those on the path
            return to_target[here] + in_two[here] - sum(onward[here].get(via, 0.0) * to_target[via] for via in path)
        further = (p * walk((*path, via), left - 1) for via, p in onward[here].items() if via not in path)
        return to_target[here] + sum(further)

    return {source: walk((source,), max_depth) for source in onward}
