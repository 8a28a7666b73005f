"""Why a link has its score: what `learned` records for each score, and how it explains it.

A score is often computed several visits before its link is fetched, and by then the model has changed. So the evidence
behind each score is appended to crawl.db with the commit, and takes no memory. `why` looks for the score that the link
has, or was fetched with.
"""

import zlib
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from math import isnan, nan
from typing import Any

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from lycosa.strategy import plainly
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.online_logistic import OTHER_VERSION, Weighed
from lycosa.types import BadInput, Explanation, Notebook, Notes, Scored

HELD_BACK = 0.01  # upper bound for a link held back until others on its page have been fetched
TURN, HELD, OUTSIDE = "turn", "held back", "outside"  # scores not based on evidence
START = "where every link starts"
IN_WORDS = {
    "parent": "relevance of the page it was found on",
    "context": "words around it",
    "own": "its own words, in anchor and URL",
    "elsewhere": "where links with such words lead elsewhere",
    "value": "targets just behind links with such words elsewhere",
    "siblings": "yield of the other links on its page",
    "part": "yield of those with URLs of the same kind",
    "near": "yield of those near it on the page",
    "untested": "few of its siblings have failed yet",
    "place": "yield of URLs of this kind",
    "area": "yield of its part of the host",
    "host": "yield of its host",
    "class": "yield of links from pages of this class",
    "leads": "where pages of this class lead",
    "words": "yield of links with such words",
    "cash": "importance by links",
    "depth": "clicks from a seed",
    "distance": "clicks since the last page on topic",
    "twin": "probably the same page as one already fetched",
}
_CLAUSES = {  # for a link, and against it
    "parent": ("the page it was found on is relevant", "the page it was found on is not relevant"),
    "context": ("the words around it are on topic", "the words around it are off topic"),
    "own": ("its own words are on topic", "its own words are off topic"),
    "elsewhere": ("links with such words lead to relevant pages elsewhere", "links with such words lead nowhere"),
    "value": (
        "elsewhere, links with such words lead to lists of relevant pages",
        "elsewhere, links with such words lead to no lists",
    ),
    "siblings": (
        "other links on the page it was found on led to relevant pages",
        "other links on the page it was found on led nowhere",
    ),
    "part": ("links like it on that page led to relevant pages", "links like it on that page led nowhere"),
    "near": ("links next to it on the page led to relevant pages", "links next to it on the page led nowhere"),
    "untested": ("few links like it have been tried", "links like it have not been tried"),
    "place": ("URLs of its kind led to relevant pages", "URLs of its kind led nowhere"),
    "area": ("its part of the host led to relevant pages", "its part of the host led nowhere"),
    "host": ("its host has relevant pages", "its host has hardly any relevant pages"),
    "class": ("links from pages of this class led to relevant pages", "links from pages of this class led nowhere"),
    "leads": ("pages of this class lead to the target", "pages of this class do not lead to the target"),
    "words": ("links with such words led to relevant pages", "links with such words led nowhere"),
    "cash": ("important pages link to it", "no important page links to it"),
    "depth": ("it is few clicks from a seed", "it is some clicks from a seed"),
    "distance": ("a page on topic is near", "it is some clicks from the last page on topic"),
    "twin": ("the same page was fetched under another URL", "it is probably the same page as one already fetched"),
}
_DIGITS = 3  # of the parts shown; rounded so that they add up to the rounded sum
_ENTRIES = np.dtype([("number", "<u4"), ("score", "<f8"), ("parts", "<f4", (len(PRIOR) + 1,))])  # bias first
_MOST_FRESH = 10_000  # scores in memory, since the lab never commits
_NOTES = "learned reasons "
Entries = NDArray[np.void]


class Reasons:
    """The reasons for all scores that links were given, in the order in which they were."""

    def __init__(self) -> None:
        self.count = 0  # of notes written
        self._db: Notebook | None = None
        self._numbers = array("I")
        self._found: list[Weighed | None] = []

    def connect(self, notes: Notebook) -> None:
        self._db = notes

    def keep(self, numbers: Sequence[int], weighed: Sequence[Weighed | None]) -> None:
        """Record why these URLs have their scores; None: selected for exploration."""
        self._numbers.extend(numbers)
        self._found.extend(weighed)

    def is_full(self) -> bool:
        return len(self._found) >= _MOST_FRESH

    def write(self) -> None:
        """Append the reasons to crawl.db: replacing those of earlier scores would cost more than it saves."""
        if self._db is not None and self._found:
            entries = _entries(self._numbers, self._found)
            self._db.keep(f"{_NOTES}{self.count:09}", isal_zlib.compress(entries[entries["number"] > 0].tobytes(), 0))
            self.count += 1
        self._found.clear()
        del self._numbers[:]


def explain(scored: Scored, notes: Notes) -> Explanation:
    """Explain the score of a link, as it is now or was when the link was fetched."""
    entry = _last(notes, scored.number, scored.score)
    if entry is not None and not isnan(entry["parts"][0]):
        return _explained(_rounded(entry["parts"].tolist()))
    told = TURN if entry is not None else HELD if scored.score <= HELD_BACK else OUTSIDE
    if told == HELD and scored.fetched:
        return Explanation(
            "nothing better was left to fetch at that moment; before, it was held back behind other links of its page"
        )
    return Explanation(_IN_A_SENTENCE[told])


_IN_A_SENTENCE = {
    TURN: "the crawl is exploring: while no list pays off, one page in a few is taken from the top of a host",
    HELD: "it is held back: of each page, the links with the best words are fetched first",
    OUTSIDE: plainly.OUTSIDE,
}


def _rounded(parts: Sequence[float]) -> list[float]:
    """Round the running sum rather than the parts, so that the parts add up to the total shown."""
    sums = [round(total, _DIGITS) for total in accumulate(parts, initial=0.0)]
    return [round(after - before, _DIGITS) for before, after in pairwise(sums)]


def _explained(rounded: Sequence[float]) -> Explanation:
    parts = {name: part for name, part in zip(PRIOR, rounded[1:], strict=True) if part}
    ordered = sorted(parts, key=lambda name: (-abs(parts[name]), name))
    named = {START: rounded[0]} | {IN_WORDS[name]: parts[name] for name in ordered}
    return Explanation(_because(parts, ordered), named, "log-odds")


def _because(parts: Mapping[str, float], ordered: Sequence[str]) -> str:
    """Name the strongest evidence for a link and the strongest against it."""
    speak_for = [_CLAUSES[name][0] for name in ordered if parts[name] > 0][:2]
    against = [_CLAUSES[name][1] for name in ordered if parts[name] < 0][:1]
    because = " and ".join(speak_for) or "nothing better was known"
    return f"{because}; against it, {against[0]}" if against else because


def _entries(numbers: Sequence[int], found: Sequence[Weighed | None]) -> Entries:
    """Encode many reasons at once, which takes a third of the time. A link selected for exploration has no bias."""
    made, shape = [weighed for weighed in found if weighed], (-1, len(PRIOR))
    weights = {id(weighed.weights): weighed.weights for weighed in made}  # the same for all links of a visit
    places = {key: at for at, key in enumerate(weights)}
    of_each = np.array([places[id(weighed.weights)] for weighed in made], np.intp)
    evidence = np.fromiter(chain.from_iterable([weighed.evidence for weighed in made]), np.float64)
    by_evidence = np.fromiter(map(bool, found), np.bool_, len(found))
    parts = np.zeros((len(found), len(PRIOR) + 1), np.float32)
    parts[:, 0] = [weighed.bias if weighed else nan for weighed in found]
    parts[by_evidence, 1:] = evidence.reshape(shape) * np.array([*weights.values()]).reshape(shape)[of_each]
    packed = np.zeros(len(found), _ENTRIES)
    packed["number"], packed["score"] = numbers, [weighed.score if weighed else 1.0 for weighed in found]
    packed["parts"] = parts
    return packed


def _last(notes: Notes, number: int, score: float) -> Any:
    """Return the last entry about this score of a URL, or None."""
    last = None
    for _, packed in notes.notes(_NOTES):
        try:
            entries = np.frombuffer(zlib.decompress(packed), _ENTRIES)
        except (zlib.error, ValueError):
            raise BadInput(OTHER_VERSION) from None
        at = np.flatnonzero((entries["number"] == number) & (entries["score"] == score))
        last = entries[at[-1]] if at.size else last
    return last
