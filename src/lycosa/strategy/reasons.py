"""Why did a link have its score? What `learned` keeps of each score it gives, and what it tells of it.

A score is often computed some visits before its link is taken, and everything learned since then would tell another
story. So what made a score is kept until the link was visited: for each page, the evidence of its links, written to
crawl.db with the commit. It is needed once, at the visit, and takes no memory until then.
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import msgspec

from lycosa import urls
from lycosa.strategy import plainly
from lycosa.strategy.evidence import PRIOR
from lycosa.strategy.online import OTHER_VERSION, Weighed
from lycosa.types import BadInput, Explanation, Notes, Scored

HELD_BACK = 0.01  # the most a link is worth that waits until others of its page were taken
TURN, HELD, OUTSIDE = "turn", "held back", "outside"  # scores that no evidence made
START = "where every link starts"
IN_WORDS = {
    "parent": "relevance of the page it was found on",
    "context": "words around it",
    "own": "its own words, in anchor and address",
    "elsewhere": "where links with such words led to elsewhere",
    "siblings": "what other links of its page brought",
    "part": "what those with addresses of the same kind brought",
    "near": "what those near it on the page brought",
    "untested": "few of its siblings have failed yet",
    "place": "what addresses of this kind brought",
    "area": "what its part of the host brought",
    "host": "what its host brought",
    "class": "what links from pages of this class brought",
    "leads": "where pages of this class lead to",
    "words": "what links with such words brought",
    "cash": "importance by links",
    "depth": "clicks from a seed",
    "links": "pages it was found on",
    "distance": "clicks since the last page on topic",
    "twin": "what is probably the same page was fetched",
}
_CLAUSES = {  # for a link, and against it
    "parent": ("the page it was found on is relevant", "the page it was found on is not relevant"),
    "context": ("the words around it are on topic", "the words around it are off topic"),
    "own": ("its own words are on topic", "its own words are off topic"),
    "elsewhere": ("links with such words lead to relevant pages elsewhere", "links with such words lead nowhere"),
    "siblings": (
        "other links on the page it was found on led to relevant pages",
        "other links on the page it was found on led nowhere",
    ),
    "part": ("links like it on that page led to relevant pages", "links like it on that page led nowhere"),
    "near": ("links next to it on the page led to relevant pages", "links next to it on the page led nowhere"),
    "untested": ("few links like it have been tried", "links like it have not been tried"),
    "place": ("addresses of its kind led to relevant pages", "addresses of its kind led nowhere"),
    "area": ("its part of the host led to relevant pages", "its part of the host led nowhere"),
    "host": ("its host has relevant pages", "its host has hardly any relevant pages"),
    "class": ("links from pages of this class led to relevant pages", "links from pages of this class led nowhere"),
    "leads": ("pages of this class lead to the target", "pages of this class do not lead to the target"),
    "words": ("links with such words led to relevant pages", "links with such words led nowhere"),
    "cash": ("important pages link to it", "no important page links to it"),
    "depth": ("it is few clicks from a seed", "it is some clicks from a seed"),
    "links": ("it was found on several pages", "it was found on several pages"),
    "distance": ("a page on topic is near", "it is some clicks from the last page on topic"),
    "twin": ("the same page was fetched under another address", "what is probably the same page was fetched before"),
}
_UNIT = 1_000  # parts are kept and shown as thousandths, rounded so that they add up to the rounded sum
_LARGEST = 32_767
_LAYOUT = struct.Struct(f"<d{len(PRIOR) + 1}h")  # the score; the sum after each part, the bias first
_KEY_CHARS = 16  # the fingerprint of the URL in hexadecimal
_ENTRY_CHARS = _KEY_CHARS + len(b64encode(bytes(_LAYOUT.size)))
_MOST_FRESH = 5_000  # scores in memory: the lab never commits


class Reasons:
    """What made the scores of links that wait, by the page through which they were scored."""

    def __init__(self) -> None:
        self.db: Any = None
        self._fresh: dict[int, dict[str, Weighed]] = {}  # by the number of the page: not written yet
        self._count = 0

    def keep(self, page: int, url: str, weighed: Weighed) -> None:
        self._fresh.setdefault(page, {})[url] = weighed
        self._count += 1

    def is_full(self) -> bool:
        return self._count >= _MOST_FRESH

    def write(self, done: Container[int]) -> None:
        """Let crawl.db hold them. What was known of other links of a page stays, until they are done."""
        for page, fresh in self._fresh.items() if self.db is not None else ():
            entries = {key: text for key, text in _entries(self.db.noted(_key(page))) if int(key, 16) not in done}
            for url, weighed in fresh.items():
                if urls.fingerprint(url) not in done:
                    entries[_fingerprint(url)] = _packed(weighed)
            self.db.note(_key(page), "".join(key + text for key, text in entries.items()))
        self._fresh.clear()
        self._count = 0

    def told(self, url: str, score: float, pages: Sequence[int], turn: bool) -> Sequence[int] | str:
        """What made the score that a link of these pages was taken with, as it is noted: parts in thousandths, or why
        there are none."""
        if turn and score == 1.0:
            return TURN
        return self._find(url, score, pages) or (HELD if score <= HELD_BACK else OUTSIDE)

    def _find(self, url: str, score: float, pages: Sequence[int]) -> list[int] | None:
        key = _fingerprint(url)
        for page in pages:
            if weighed := self._fresh.get(page, {}).get(url):
                if weighed.score == score:
                    return _differences(_sums(weighed))
            elif self.db is not None and (found := _match(self.db.noted(_key(page)), key, score)):
                return found
        return None


def explain(scored: Scored, notes: Notes) -> Explanation:
    """Why the score of a link is what it is, or was when the link was taken."""
    url = scored.link.url
    if scored.fetched:
        told = msgspec.json.decode(notes.noted(f"learned why {url}") or f'"{OUTSIDE}"', type=list[int] | str)
    elif scored.score == 1.0 and notes.noted(f"learned turn {url}"):
        told = TURN
    else:
        key = _fingerprint(url)
        texts = (text for _, text in notes.notes("learned reasons ", containing=key))
        found = (match for text in texts if (match := _match(text, key, scored.score)))
        told = next(found, HELD if scored.score <= HELD_BACK else OUTSIDE)
    if told == HELD and scored.fetched:
        return Explanation("nothing better was left to fetch just then; until then it was held back behind others")
    return Explanation(_IN_A_SENTENCE[told]) if isinstance(told, str) else _explained(told)


_IN_A_SENTENCE = {
    TURN: "it is its turn: while no list of links brings relevant pages, one page in some is taken breadth-first",
    HELD: "it is held back: of each page the links with the best words come first, and the others wait for those",
    OUTSIDE: plainly.OUTSIDE,
}


def _explained(thousandths: Sequence[int]) -> Explanation:
    if len(thousandths) != len(PRIOR) + 1:
        raise BadInput(OTHER_VERSION)
    parts = {name: part / _UNIT for name, part in zip(PRIOR, thousandths[1:], strict=True) if part}
    ordered = sorted(parts, key=lambda name: (-abs(parts[name]), name))
    named = {START: thousandths[0] / _UNIT} | {IN_WORDS[name]: parts[name] for name in ordered}
    return Explanation(_because(parts, ordered), named, "log-odds")


def _because(parts: Mapping[str, float], ordered: Sequence[str]) -> str:
    """What spoke most for a link, and what most against it."""
    speak_for = [_CLAUSES[name][0] for name in ordered if parts[name] > 0][:2]
    against = [_CLAUSES[name][1] for name in ordered if parts[name] < 0][:1]
    because = " and ".join(speak_for) or "nothing better was known"
    return f"{because}; against it, {against[0]}" if against else because


def _sums(weighed: Weighed) -> list[int]:
    """The sum after each part, the bias first, in thousandths: when these are rounded, and not the parts, the parts add
    up to what is shown."""
    return [round(_UNIT * total) for total in accumulate(weighed.parts(), initial=weighed.bias)]


def _packed(weighed: Weighed) -> str:
    sums = _sums(weighed)
    try:
        packed = _LAYOUT.pack(weighed.score, *sums)
    except struct.error:  # it is as good as certain, whatever the rest says
        packed = _LAYOUT.pack(weighed.score, *(max(-_LARGEST, min(_LARGEST, total)) for total in sums))
    return b64encode(packed).decode()


def _differences(sums: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *sums])]


def _match(entries: str, key: str, score: float) -> list[int] | None:
    for found, text in _entries(entries):
        if found == key:
            kept, *sums = _LAYOUT.unpack(b64decode(text))
            return _differences(sums) if kept == score else None
    return None


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for start in range(0, len(text), _ENTRY_CHARS):
        yield text[start : start + _KEY_CHARS], text[start + _KEY_CHARS : start + _ENTRY_CHARS]


def _key(page: int) -> str:
    return f"learned reasons {page:09}"


def _fingerprint(url: str) -> str:
    return f"{urls.fingerprint(url):016x}"
