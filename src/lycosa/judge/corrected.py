"""Any judge, corrected by a person's labels during the crawl.

Without labels it passes on the judge's verdicts unchanged. With labels, a labelled page gets the verdict of its label,
and every other page is corrected by what `correction.py` has learned from the labels; if the judge was trained on
pages, from both together. The words of each page are stored with its visit, so that new labels change the verdicts on
all pages, whether or not the crawl stores them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from lycosa.judge.correction import MOST_LABELS, PLACES, SIZE, Correction, Places, boundary, fit, places, rarities
from lycosa.judge.given import GivenPage, Reading
from lycosa.store.labels import LABELS as LABELS
from lycosa.types import Judge, Learns, Notebook, Notes, Page, Remembers, Revises, Verdict, Visit

_PAGE, _TAUGHT = "labels page ", "labels taught"  # keys of notes
_ELSEWHERE, _TOLD = "labels elsewhere ", "labels told"  # ... and of those about labels that other shards keep
_AT_ONCE = 1_000  # pages judged again per batch
_NOTICEABLE = 1e-3  # smaller changes in relevance are not reported
_LEAST_PROBABILITY = 1e-3  # of a class to be stored
_REFIT_SHARE = 0.1  # refit when the labelled pages fetched since the last fit reach this share of the labels in it


class Seen(Struct, frozen=True, array_like=True):
    """A page and the judge's verdict before any correction."""

    relevance: float
    on_topic: bool
    label: str
    classes: dict[str, float]
    why: dict[str, float]
    model: str
    places: bytes

    def verdict(self) -> Verdict:
        return Verdict(self.relevance, self.on_topic, self.label, self.classes, self.why, self.model)

    def found(self) -> Places:
        return np.frombuffer(self.places, np.uint16)


class Elsewhere(Struct, frozen=True, array_like=True):
    """A label that another shard keeps."""

    on_topic: bool | None  # None: the label was removed
    page: bytes  # as `Seen`, once the page has been fetched


class Stored(Struct, frozen=True, array_like=True):
    """The stored form of `Taught`."""

    labels: dict[str, bool]
    fitted: int
    numbers: tuple[float, float, float] = (0.5, 0.0, 0.0)  # boundary, shift, slope
    rarity: bytes = b""
    worth: bytes = b""
    given: int = 0


@runtime_checkable
class Trained(Protocol):
    """A judge that was trained on pages."""

    def given(self) -> list[GivenPage]: ...  # those pages; slow


class Taught(NamedTuple):
    """The labels, and what was learned from those whose pages have been fetched."""

    labels: Mapping[str, bool]
    fitted: int = 0  # number of labels learned from
    correction: Correction | None = None
    given: int = 0  # number of training pages learned from


_seen = msgspec.msgpack.Decoder(Seen).decode
_stored = msgspec.msgpack.Decoder(Stored).decode
_elsewhere = msgspec.msgpack.Decoder(Elsewhere).decode
_told_before = msgspec.msgpack.Decoder(dict[str, tuple[bool, bool]]).decode
_encode = msgspec.msgpack.Encoder().encode


@dataclass
class Corrected:
    """Wraps a judge and offers all its methods; short texts, such as those of links, are judged without correction."""

    inner: Any
    own_: dict[str, bool] = field(init=False, repr=False, default_factory=dict)  # without those of other shards
    taught_: Taught = field(init=False, repr=False, default=Taught({}))
    before_: Taught | None = field(init=False, repr=False, default=None)  # source of the stored verdicts, if different
    flipped_: int = field(init=False, repr=False, default=0)  # verdicts reversed by the last change of labels
    unfitted_: int = field(init=False, repr=False, default=0)  # labelled pages fetched since the last fit
    late_: dict[str, Verdict] = field(init=False, repr=False, default_factory=dict)  # pages judged before a change
    read_: dict[int, tuple[Page, Verdict, Places]] = field(init=False, repr=False, default_factory=dict)  # not learned
    held_: bool = field(init=False, repr=False, default=False)  # keep what labels have taught, whatever comes
    notes_: Notebook | None = field(init=False, repr=False, default=None)
    at_once_: bool = field(init=False, repr=False, default=True)  # read the training pages within the turn
    running_: bool = field(init=False, repr=False, default=False)  # pages are being judged
    given_: Reading | None = field(init=False, repr=False, default=None)  # the judge's training pages, once needed
    waiting_: bool = field(init=False, repr=False, default=False)  # for these pages, to learn from them too
    shares_: bool = field(init=False, repr=False, default=False)  # there are other shards
    untold_: set[str] = field(init=False, repr=False, default_factory=set)  # labels that they have not been told

    def __post_init__(self) -> None:
        """Expose the judge's other methods as attributes, since isinstance() checks for them."""
        for name in dir(type(self.inner)):
            if not name.startswith("_") and not hasattr(type(self), name) and callable(getattr(type(self.inner), name)):
                setattr(self, name, getattr(self.inner, name))
        # detected once: isinstance() is slow for protocols
        self.learns_ = self.inner if isinstance(self.inner, Learns) else None
        self.revises_ = self.inner if isinstance(self.inner, Revises) else None
        self.trained_ = self.inner if isinstance(self.inner, Trained) else None

    def connect(self, notes: Notebook, at_once: bool = True) -> None:
        self.notes_, self.at_once_ = notes, at_once
        if isinstance(self.inner, Remembers):
            self.inner.connect(notes, at_once)

    async def judge(self, page: Page) -> Verdict:
        judge: Judge = self.inner
        self.running_ = True
        verdict = await judge.judge(page)
        if not self.taught_.labels:
            return verdict
        found = places(page)
        self.read_[id(page)] = page, verdict, found
        return correct(page.url, verdict, found, self.taught_)

    def learn(self, visit: Visit) -> None:
        """Let the wrapped judge learn from its own verdict, and store the page."""
        read = self.read_.pop(id(visit.page), None)
        verdict = read[1] if read else visit.verdict
        if self.learns_:
            self.learns_.learn(visit if verdict is visit.verdict else replace(visit, verdict=verdict))
        if not visit.is_distinct or self.notes_ is None:
            return
        url, found = visit.reply.link.url, read[2] if read else places(visit.page)
        self._keep(url, verdict, found.tobytes())
        if not self.taught_.labels:
            return
        if self.shares_ and url in self.own_:
            self.untold_.add(url)
        now = correct(url, verdict, found, self.taught_)
        if _differs(now, visit.verdict):
            self.late_[url] = now
        if self.held_:
            return
        self.unfitted_ += url in self.taught_.labels
        is_read = self.waiting_ and self.given_ is not None and self.given_.is_done
        if is_read or (self.unfitted_ > 0 and self.unfitted_ >= _REFIT_SHARE * self.taught_.fitted):
            self._teach()

    def teach(self, labels: Mapping[str, bool], again: bool = False) -> None:
        """Set all current labels, at the start and whenever there are new ones; `revised` returns the changes. `again`:
        learn from them even if they are the same, since there are more pages now."""
        if self.notes_ and not self.taught_.labels:
            self.recall(self.notes_)
        self.own_ = dict(labels)
        self._look_for_untold()
        every = self._all()
        known = sum(1 for _ in self._labelled(every))
        cut_short = self.trained_ is not None and self.given_ is None and bool(known) and not self.taught_.given
        self.unfitted_ = self.flipped_ = 0
        is_new = every != self.taught_.labels or known != self.taught_.fitted or cut_short
        if is_new or (again and every):
            self._teach()

    def hold(self, labels: Mapping[str, bool], notes: Notes) -> bool:
        """Keep what these labels have taught according to the notes; return False if that was learned from others.
        What they teach depends on the pages fetched by then, so it cannot be learned again from all of them."""
        self.recall(notes)
        self.held_ = bool(self.taught_.labels) and self.taught_.labels == labels
        if not self.held_:
            self.taught_ = Taught({})
        return self.held_

    def release(self) -> None:
        """Learn from labels again from now on; what was held is stored, since the notes may be new ones."""
        if self.held_ and self.notes_:
            self.notes_.keep(_TAUGHT, _encode(_written(self.taught_)))
        self.held_ = False

    def recall(self, notes: Notes) -> None:
        """Restore what the labels had taught when the notes were last written."""
        if note := notes.noted(_TAUGHT):
            self.taught_ = _read(_stored(note))

    def revised(self) -> list[tuple[str, Verdict]]:
        """Return the verdicts changed by the wrapped judge or by new labels."""
        found = dict(self._inner_revised())
        found.update(self.late_)
        self.late_ = {}
        if self.before_ is not None:
            before, self.before_, self.flipped_ = self.before_, None, 0
            found.update(self._compared(before, self.taught_))
        return [*found.items()]

    def share(self) -> None:
        """There are other shards, who learn from the labels of this one, too."""
        self.shares_ = True
        self._look_for_untold()

    def lesson(self) -> dict[str, Any]:
        """Return the labels of this shard that are new since the last lesson, or whose pages are."""
        if not self.untold_ or self.notes_ is None:
            return {}
        told = self._told()
        labels = []
        for url in sorted(self.untold_):
            on_topic, page = self.own_.get(url), self.notes_.noted(_PAGE + url) or b""
            labels.append((url, on_topic, page))
            told.pop(url, None)
            if on_topic is not None:
                told[url] = on_topic, bool(page)
        self.untold_.clear()
        self.notes_.keep(_TOLD, _encode(told))
        return {"labels": labels}

    def study(self, lesson: dict[str, Any]) -> None:
        """Learn from labels that another shard keeps; `revised` returns the changes."""
        assert self.notes_ is not None
        is_new = False
        for url, on_topic, page in lesson["labels"]:
            note = _encode(Elsewhere(on_topic, page))
            if note != self.notes_.noted(_ELSEWHERE + url):
                self.notes_.keep(_ELSEWHERE + url, note)
                is_new = True
        if is_new:
            self._teach()

    # -- internals ----------------------------------------------------------------------------------------------------

    def _told(self) -> dict[str, tuple[bool, bool]]:
        """Return what the other shards know of the labels of this one: the label, and whether they have its page."""
        note = self.notes_.noted(_TOLD) if self.notes_ else b""
        return _told_before(note) if note else {}

    def _look_for_untold(self) -> None:
        if not self.shares_:
            return
        told = self._told()
        self.untold_ |= told.keys() - self.own_.keys()
        for url, on_topic in self.own_.items():
            if told.get(url) != (on_topic, bool(self._page_note(url))):
                self.untold_.add(url)

    def _all(self) -> dict[str, bool]:
        """Return the labels of all shards."""
        notes = self.notes_.notes(_ELSEWHERE) if self.notes_ else ()
        others = {url: _elsewhere(note).on_topic for url, note in notes}
        return {url: on_topic for url, on_topic in others.items() if on_topic is not None} | self.own_

    def _page_note(self, url: str) -> bytes:
        """Return the note on a labelled page of any shard; empty if it has not been fetched."""
        if self.notes_ is None:
            return b""
        if note := self.notes_.noted(_PAGE + url):
            return bytes(note)
        elsewhere = self.notes_.noted(_ELSEWHERE + url)
        return _elsewhere(elsewhere).page if elsewhere else b""

    def _inner_revised(self) -> Iterator[tuple[str, Verdict]]:
        for url, verdict in self.revises_.revised() if self.revises_ else ():
            note = self.notes_.noted(_PAGE + url) if self.notes_ else b""
            if note:
                seen = _seen(note)
                self._keep(url, verdict, seen.places)
                yield url, correct(url, verdict, seen.found(), self.taught_)
            else:
                yield url, verdict

    def _keep(self, url: str, verdict: Verdict, found: bytes) -> None:
        assert self.notes_ is not None
        classes = {name: chance for name, chance in verdict.classes.items() if chance >= _LEAST_PROBABILITY}
        told = verdict.relevance, verdict.on_topic, verdict.label, classes, dict(verdict.why), verdict.model
        self.notes_.keep(_PAGE + url, _encode(Seen(*told, found)))

    def _labelled(self, labels: Mapping[str, bool]) -> Iterator[tuple[str, bool, Seen]]:
        """Yield the labels whose pages have been fetched."""
        for url, on_topic in labels.items():
            if note := self._page_note(url):
                yield url, on_topic, _seen(note)

    def _pages(self) -> Iterator[list[tuple[str, Seen]]]:
        """Yield all pages in batches."""
        rows = ((url, _seen(note)) for url, note in (self.notes_.notes(_PAGE) if self.notes_ else ()))
        while some := list(islice(rows, _AT_ONCE)):
            yield some

    def _teach(self) -> None:
        labels = self._all()
        found = [*self._labelled(labels)]
        correction, given = None, self._given() if found else []
        if found:
            urls, answers, pages = zip(*found[-MOST_LABELS:], strict=True)
            verdicts = [*(page.verdict for page in given), *(seen.verdict() for seen in pages)]
            words = [*(page.places for page in given), *(seen.found() for seen in pages)]
            told = [*(page.on_topic for page in given), *answers]
            correction = fit([""] * len(given) + [*urls], verdicts, words, told, *self._surveyed(), len(given))
        if self.before_ is None:
            self.before_ = self.taught_
        self.taught_, self.unfitted_ = Taught(labels, len(found), correction, len(given)), 0
        if self.notes_:
            self.notes_.keep(_TAUGHT, _encode(_written(self.taught_)))

    def _given(self) -> list[GivenPage]:
        """Return the judge's training pages. In a running crawl they are read in a thread, and learned from later."""
        if self.trained_ is None:
            return []
        if self.given_ is None:
            self.given_ = Reading(self.trained_.given)
            if self.at_once_ or not self.running_:
                self.given_.run()
            else:
                self.given_.start()
        self.waiting_ = not self.given_.is_done
        return self.given_.pages

    def _surveyed(self) -> tuple[Any, float]:
        """Return how rare each word is, and the judge's threshold."""
        counts, number, least_on, most_off = np.zeros(PLACES, np.int64), 0, 1.0, 0.0
        for some in self._pages():
            counts += np.bincount(np.concatenate([seen.found() for _, seen in some]), minlength=PLACES)
            number += len(some)
            least_on = min([least_on, *(seen.relevance for _, seen in some if seen.on_topic)])
            most_off = max([most_off, *(seen.relevance for _, seen in some if not seen.on_topic)])
        return rarities(counts, number), boundary(least_on, most_off)

    def _compared(self, before: Taught, now: Taught) -> Iterator[tuple[str, Verdict]]:
        for some in self._pages():
            for url, seen in some:
                verdict, found = seen.verdict(), seen.found()
                old, new = correct(url, verdict, found, before), correct(url, verdict, found, now)
                self.flipped_ += old.on_topic != new.on_topic
                if _differs(old, new):
                    yield url, new


def _differs(one: Verdict, other: Verdict) -> bool:
    return one.on_topic != other.on_topic or abs(one.relevance - other.relevance) > _NOTICEABLE


def has_noted(notes: Notes) -> bool:
    """Return whether there are pages whose verdicts labels can change; versions without labels stored none."""
    return any(True for _ in notes.notes(_PAGE))


def correct(url: str, verdict: Verdict, found: Places, by: Taught) -> Verdict:
    """Correct a verdict by the labels."""
    if (label := by.labels.get(url)) is not None:
        return _told(verdict, float(label), label, "by a label")
    if by.correction is None:
        return verdict
    return _told(verdict, *by.correction.of(url, verdict, found), f"{by.fitted} labels")


def _told(verdict: Verdict, relevance: float, on_topic: bool, how: str) -> Verdict:
    why = {**verdict.why, LABELS: relevance - verdict.relevance}
    reasons = {name: why[name] for name in sorted(why, key=lambda name: -abs(why[name]))}
    model = f"{verdict.model}, {how}".removeprefix(", ")
    before = verdict.relevance
    return replace(verdict, relevance=relevance, on_topic=on_topic, why=reasons, model=model, uncorrected=before)


def _written(taught: Taught) -> Stored:
    if not (learned := taught.correction):
        return Stored(dict(taught.labels), taught.fitted)
    numbers = learned.boundary, learned.shift, learned.slope
    arrays = learned.rarity.tobytes(), learned.worth.tobytes()
    return Stored(dict(taught.labels), taught.fitted, numbers, *arrays, taught.given)


def _read(stored: Stored) -> Taught:
    if not stored.worth:
        return Taught(stored.labels, stored.fitted)
    rarity, worth = (np.frombuffer(part, np.float32) for part in (stored.rarity, stored.worth))
    worth = np.pad(worth, (0, SIZE - len(worth)))  # earlier versions knew only words
    return Taught(stored.labels, stored.fitted, Correction(*stored.numbers, rarity, worth), stored.given)
