"""Evidence as bars and marked words: what spoke for a page or a link, and what against it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct

from lycosa import config
from lycosa.console.site import shown
from lycosa.judge.passages import passages
from lycosa.labelling import taught_judge
from lycosa.output.passages import parts
from lycosa.text import words
from lycosa.types import BadInput, Page

MOST_PASSAGES = 300  # of a page that are shown
MOST_LETTERS = 2_000  # of a passage: a page may consist of one word without end
_MOST_JUDGES = 4  # kept in memory
_PLAIN = {
    "(calibration)": "how much these words mean in this crawl",
    "(other words)": "the other words of the page",
}


class Bar(Struct, frozen=True):
    """One piece of evidence."""

    name: str
    value: float  # positive: for it
    share: float  # of the strongest, 0 to 1, without sign


class Part(Struct, frozen=True):
    """A piece of text; the effect is above 0 if it spoke for the page, below if against it."""

    text: str
    effect: float = 0.0


def bars(evidence: Mapping[str, float], most: int = 20) -> list[Bar]:
    """The strongest first."""
    strongest = max(map(abs, evidence.values()), default=0.0) or 1.0
    ordered = sorted(evidence.items(), key=lambda item: -abs(item[1]))[:most]
    return [Bar(plain(name), value, abs(value) / strongest) for name, value in ordered]


def plain(reason: str) -> str:
    """A reason for a verdict in words that everybody understands."""
    return _PLAIN.get(reason) or shown(reason, 120)


def marked_text(page: Page, judge: object, why: Mapping[str, float]) -> list[list[Part]]:
    """The page as passages of marked text. The judge says which words matter where it can; elsewhere the reasons of the
    verdict are marked."""
    reasons: dict[str, float] = {}
    for reason, weight in why.items():  # the strongest first
        for word in words("" if reason.startswith("(") else reason):  # such as "(other words)"
            reasons.setdefault(word, weight)
    found = passages(page, judge)
    given: list[tuple[str, Mapping[str, float]]] = [(one.text, one.words or reasons) for one in found]
    if not found:
        given = [(text, reasons) for text in [page.title, *page.text.split("\n")] if text.strip()]
    return [marked(shown(text, MOST_LETTERS), effects, why) for text, effects in given[:MOST_PASSAGES]]


def marked(text: str, effects: Mapping[str, float], why: Iterable[str]) -> list[Part]:
    """A text in pieces. A word that counts only as part of a phrase ("oral health") is not marked elsewhere."""
    pieces = [Part(part, effect) for part, effect in parts(text, effects) if part]
    known = [words(reason) for reason in why if not reason.startswith("(")]
    single = {one[0] for one in known if len(one) == 1}
    pairs = {pair for one in known for pair in pairwise(one)}
    partial = {word for pair in pairs for word in pair} - single
    return [
        Part(one.text) if one.effect and _word(one) in partial and not _is_in_phrase(pieces, at, pairs) else one
        for at, one in enumerate(pieces)
    ]


def _is_in_phrase(pieces: Sequence[Part], at: int, pairs: Collection[tuple[str, str]]) -> bool:
    """Whether the word before or after makes it part of a phrase; what is between words is a piece, too."""
    before = at > 1 and not words(pieces[at - 1].text) and (_word(pieces[at - 2]), _word(pieces[at])) in pairs
    after = at + 2 < len(pieces) and not words(pieces[at + 1].text)
    return before or (after and (_word(pieces[at]), _word(pieces[at + 2])) in pairs)


def _word(piece: Part) -> str:
    return piece.text.lower()


class Judges:
    """The judges of the last few crawls looked at: training or loading one may take seconds."""

    def __init__(self) -> None:
        self._made: dict[Path, tuple[Sequence[float], Any]] = {}
        self._lock = Lock()

    def of(self, folder: Path) -> Any:
        """The judge as the crawl has taught it; None if it cannot be made, as the page can be shown without it."""
        stamp = [_changed_at(folder / name) for name in (config.NAME, "summary.json")]
        with self._lock:
            known = self._made.pop(folder, None)
            if known is None or known[0] != stamp:
                try:
                    known = stamp, taught_judge(folder)
                except (BadInput, OSError):
                    known = stamp, None
            self._made[folder] = known
            while len(self._made) > _MOST_JUDGES:
                del self._made[next(iter(self._made))]
            return known[1]


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


judges = Judges()
