"""Label pages one at a time, by keys: half uncertain ones, a quarter the best, a quarter at random."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import config, labelling
from lycosa.console.api import ApiRoute
from lycosa.console.evidence import marked, plain
from lycosa.console.site import folder_of, reading, render
from lycosa.errors import BadInput
from lycosa.judge.passages import Passage, best, passages, worst
from lycosa.labelling import Question, Sent
from lycosa.output.terminal import printable
from lycosa.store.labels import Candidate, Precision, count_labels

COUNT = 20  # questions in a batch
_OPENING = 80  # words of a page without telling passages
_REASONS = 6
_ANSWERS = {"y": True, "n": False}


class Given(Struct, forbid_unknown_fields=True):
    """A label for one page; null removes it."""

    url: str
    on_topic: bool | None
    chosen: str = "import"


class Standing(Struct, frozen=True):
    """What the labels say so far."""

    on_topic: int
    off_topic: int
    precision: Precision | None


class Batch:
    """Questions that are asked one after the other, the answers so far, and the verdicts before."""

    def __init__(self, folder: Path, count: int = COUNT) -> None:
        self.questions, self._before = labelling.questions(folder, count)
        self.place = 0
        self._folder = folder
        self._sent = Sent(folder)
        self._settings = config.load(folder)[0]
        self._judge = labelling.taught_judge(folder)
        self._answered: list[tuple[int, bool]] = []  # the place of each question that was asked, and if it was answered

    @property
    def question(self) -> Question | None:
        return self.questions[self.place] if self.place < len(self.questions) else None

    @property
    def can_undo(self) -> bool:
        return bool(self._answered)

    def answer(self, key: str, url: str) -> None:
        """One key: y, n, s (skip), u (undo). A key for another page than the current one comes from a page that is out
        of date, and is ignored."""
        if key == "u":
            self._undo()
        elif (asked := self.question) and asked.page.url == url:
            if key in _ANSWERS:
                self._sent.send({url: _ANSWERS[key]}, asked.chosen)
            self._answered.append((self.place, key in _ANSWERS))
            self.place += 1

    def _undo(self) -> None:
        if not self._answered:
            return
        self.place, was_label = self._answered.pop()
        if was_label:
            asked = self.questions[self.place]
            self._sent.send({asked.page.url: None}, asked.chosen)

    def finish(self, request: Request) -> str:
        """Apply the labels, and say what they have changed."""
        self._sent.apply()
        if not self._sent.number:
            return "You gave no labels."
        with reading(request) as db:
            changed = labelling.count_changed(db, self._before)
        return f"Your {labelling.what_changed(self._sent.number, changed)}."

    def shown(self) -> dict[str, Any]:
        """The current question for a template."""
        asked = self.question
        assert asked
        page = labelling.stored_page(self._folder, self._settings, asked.page)
        found = passages(page, self._judge)
        speaks_for, against = best(found), worst(found)
        opening = "" if speaks_for or against else " ".join(page.text.split()[:_OPENING])
        return {
            "page": asked.page,
            "chosen": asked.chosen,
            "reasons": _reasons(asked.page),
            "speaks_for": [_marked(one, asked.page) for one in speaks_for],
            "against": [_marked(one, asked.page) for one in against],
            "opening": opening,
        }


class Batches:
    """The batch that is being answered for each crawl."""

    def __init__(self) -> None:
        self._batches: dict[Path, Batch] = {}
        self.lock = Lock()  # answers come one at a time, whichever browser they are from

    def get(self, folder: Path, fresh: bool = False) -> Batch:
        if fresh or folder not in self._batches:
            self._batches[folder] = Batch(folder)
        return self._batches[folder]

    def drop(self, folder: Path) -> None:
        self._batches.pop(folder, None)


def _reasons(page: Candidate) -> list[tuple[str, float]]:
    return [(plain(reason), weight) for reason, weight in [*page.why.items()][:_REASONS]]


def _marked(passage: Passage, page: Candidate) -> list[tuple[str, str]]:
    """A passage in pieces, each with "for", "against" or nothing: how it moved the relevance."""
    return [
        (part.text, "for" if part.effect > 0 else "against" if part.effect < 0 else "")
        for part in marked(printable(passage.text), passage.words, page.why)
    ]


def _batches(request: Request) -> Batches:
    found: Batches = request.app.state.label_batches
    return found


def show_label(request: Request) -> Response:
    here = _batches(request)
    with here.lock:
        return _show(request, here.get(folder_of(request)))


async def answer(request: Request) -> Response:
    async with request.form(max_files=0, max_fields=10) as form:
        key, url = str(form.get("key", "")), str(form.get("url", ""))
    return await run_in_threadpool(_answered, request, key, url)


def _answered(request: Request, key: str, url: str) -> Response:
    if key not in ("y", "n", "s", "u", "finish", "again"):
        raise BadInput(f"{key[:20]!r} is not an answer: y, n, s or u")
    here, folder = _batches(request), folder_of(request)
    with here.lock:
        batch = here.get(folder, fresh=key == "again")
        if key == "finish":
            return _finished(request, batch)
        if key != "again":
            batch.answer(key, url)
        return _show(request, batch)


def _show(request: Request, batch: Batch) -> Response:
    if not batch.questions:
        _batches(request).drop(folder_of(request))
        return _page(request, question=None, batch=batch, changed="")
    if batch.question is None:
        return _finished(request, batch)
    return _page(request, question=batch.shown(), batch=batch, changed="")


def _finished(request: Request, batch: Batch) -> Response:
    changed = batch.finish(request)
    _batches(request).drop(folder_of(request))
    return _page(request, question=None, batch=batch, changed=changed)


def _page(request: Request, **context: Any) -> Response:
    template = "label_card.html" if request.headers.get("hx-request") else "label.html"
    return render(request, template, view="label", standing=standing(request), **context)


def standing(request: Request) -> Standing:
    """The labels given so far, and the precision they suggest."""
    with reading(request) as db:
        counts = count_labels(db)
        return Standing(counts.on_topic, counts.off_topic, labelling.precision(db))


def questions(request: Request) -> list[str]:
    """The URLs to label next."""
    return [question.page.url for question in _chosen(folder_of(request))]


def _chosen(folder: Path) -> Sequence[Question]:
    return labelling.questions(folder, COUNT).questions


def give(request: Request, given: Given) -> Standing:
    """Label one page."""
    sent = Sent(folder_of(request))
    sent.send({given.url: given.on_topic}, given.chosen)
    sent.apply()
    return standing(request)


routes: list[BaseRoute] = [
    Route("/crawls/{name}/label", show_label, name="label"),
    Route("/crawls/{name}/label", answer, methods=["POST"], name="answer"),
    ApiRoute("GET", "/api/crawls/{name}/labels", standing, "The labels so far, and the precision they suggest."),
    ApiRoute("GET", "/api/crawls/{name}/labels/next", questions, "Pages that are worth labelling."),
    ApiRoute("POST", "/api/crawls/{name}/labels", give, "Label a page, or remove a label.", body=Given),
]
