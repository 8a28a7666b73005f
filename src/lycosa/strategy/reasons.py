"""Why a link has its score: what `learned` records for each score, and how it explains it.

A score is often computed several visits before its link is fetched, and by then the model has changed. So the evidence
behind a score is kept until the visit: per page, the evidence for its links, written to crawl.db with the commit. It is
needed only once, at the visit, and takes no memory until then.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from math import isnan, nan

import numpy as np

from lycosa.strategy import plainly
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.links import Links
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
_ENTRY = struct.Struct(f"<Id{len(PRIOR) + 1}f")  # URL id, score, bias, contribution of each kind
_ENTRIES = np.dtype([("number", "<u4"), ("score", "<f8"), ("parts", "<f4", (len(PRIOR) + 1,))])  # the same, of many
_MOST_FRESH = 10_000  # scores in memory, since the lab never commits
_KINDS = (TURN, HELD, OUTSIDE)


class Reasons:
    """The reasons for the scores of queued links, by the page through which they were scored."""

    def __init__(self, links: Links) -> None:
        self._db: Notebook | None = None
        self._links = links
        self._fresh: dict[int, dict[int, Weighed | None]] = {}  # page -> row -> reason, not written yet
        self._count = 0

    def connect(self, notes: Notebook) -> None:
        self._db = notes

    def keep(self, rows: Iterable[int], pages: Iterable[int], weighed: Sequence[Weighed | None]) -> None:
        """Record why links were scored, each as a link of the given page; None: selected for exploration."""
        fresh = self._fresh
        for row, page, found in zip(rows, pages, weighed, strict=False):
            if page in fresh:
                fresh[page][row] = found
            else:
                fresh[page] = {row: found}
        self._count += len(weighed)

    def is_full(self) -> bool:
        return self._count >= _MOST_FRESH

    def write(self) -> None:
        """Write the reasons to crawl.db. Those for other links of a page are kept until these are done."""
        if self._db is not None:
            self._write(self._db)
        self._fresh.clear()
        self._count = 0

    def _write(self, notes: Notebook) -> None:
        links = self._links
        found = [weighed for fresh in self._fresh.values() for weighed in fresh.values() if weighed]
        numbers = [links.ids[row] for fresh in self._fresh.values() for row, weighed in fresh.items() if weighed]
        packed = _all_packed(numbers, found)
        for page, fresh in self._fresh.items():
            kept = {number: entry for number, entry in _entries(notes.noted(_key(page))) if links.row_of(number)}
            for row, weighed in fresh.items():
                number = links.ids[row]
                entry = next(packed) if weighed else _unmade(number, 1.0, TURN)
                if number:
                    kept[number] = entry
            notes.keep(_key(page), b"".join(kept.values()))

    def take(self, row: int, score: float) -> bytes:
        """Return the reason for the score a link was fetched with, and discard the rest."""
        number, pages = self._links.ids[row], [page for page, _ in self._links.found(row)]
        found = self._find(row, number, score, pages)
        for page in pages:
            self._fresh.get(page, {}).pop(row, None)
        return found or _unmade(number, score, HELD if score <= HELD_BACK else OUTSIDE)

    def _find(self, row: int, number: int, score: float, pages: Sequence[int]) -> bytes | None:
        for page in pages:
            fresh = self._fresh.get(page, {})
            if row in fresh:
                weighed = fresh[row]
                if (weighed.score if weighed else 1.0) == score:
                    return _packed(number, weighed) if weighed else _unmade(number, score, TURN)
            elif self._db is not None and (found := _match(self._db.noted(_key(page)), number, score)):
                return found
        return None


def explain(scored: Scored, notes: Notes) -> Explanation:
    """Explain the score of a link, as it is now or was when the link was fetched."""
    number = scored.number.to_bytes(4, "little")
    texts = notes.notes("learned whys " if scored.fetched else "learned reasons ", containing=number)
    entries = (match for _, text in texts if (match := _match(text, scored.number, scored.score)))
    if entry := next(entries, None):
        _, _, bias, *parts = _ENTRY.unpack(entry)
        if not isnan(bias):
            return _explained(_rounded([bias, *parts]))
        told = _KINDS[int(parts[0])]
    else:
        told = HELD if scored.score <= HELD_BACK else OUTSIDE
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


def _packed(number: int, weighed: Weighed) -> bytes:
    return _ENTRY.pack(number, weighed.score, weighed.bias, *weighed.parts())


def _all_packed(numbers: Sequence[int], found: Sequence[Weighed]) -> Iterator[bytes]:
    """Encode many entries at once, which takes a third of the time."""
    packed, shape = np.zeros(len(found), _ENTRIES), (-1, len(PRIOR))
    weights = {id(weighed.weights): weighed.weights for weighed in found}  # the same for all links of a visit
    places = {key: at for at, key in enumerate(weights)}
    of_each = np.array([places[id(weighed.weights)] for weighed in found], np.intp)
    evidence = np.fromiter(chain.from_iterable([weighed.evidence for weighed in found]), np.float64)
    packed["number"], packed["score"] = numbers, [weighed.score for weighed in found]
    packed["parts"][:, 0] = [weighed.bias for weighed in found]
    packed["parts"][:, 1:] = evidence.reshape(shape) * np.array([*weights.values()]).reshape(shape)[of_each]
    blob = packed.tobytes()
    return (blob[start : start + _ENTRY.size] for start in range(0, len(blob), _ENTRY.size))


def _unmade(number: int, score: float, kind: str) -> bytes:
    """Encode a score not based on evidence: no bias, and its kind in place of the first part."""
    return _ENTRY.pack(number, score, nan, _KINDS.index(kind), *[0] * (len(PRIOR) - 1))


def _match(blob: bytes, number: int, score: float) -> bytes | None:
    for found, entry in _entries(blob):
        if found == number and _ENTRY.unpack(entry)[1] == score:
            return entry
    return None


def _entries(blob: bytes) -> Iterator[tuple[int, bytes]]:
    if len(blob) % _ENTRY.size:
        raise BadInput(OTHER_VERSION)
    for start in range(0, len(blob), _ENTRY.size):
        yield int.from_bytes(blob[start : start + 4], "little"), blob[start : start + _ENTRY.size]


def _key(page: int) -> str:
    return f"learned reasons {page:09}"
