"""A person labels the pages of a crawl: hand over the answers, show what each page says, report what changed."""

import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from lycosa import build, config, offline, topics
from lycosa.control import Request, Unreachable
from lycosa.judge.asking import choose
from lycosa.pages import read_pages
from lycosa.remote import Unresponsive, reach
from lycosa.store import labels
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Candidate, Precision
from lycosa.store.warc_reader import read_record, to_response
from lycosa.types import BadInput, Link, Page, Reply

PATIENCE_S = 10.0  # with a crawl that is starting or about to end
_PAUSE_S = 0.2


class Question(NamedTuple):
    """A page to ask about, and why this one."""

    page: Candidate
    chosen: str


class Chosen(NamedTuple):
    """Pages to ask about, and all verdicts before the first answer."""

    questions: list[Question]
    before: dict[str, bool]


def questions(folder: Path, count: int) -> Chosen:
    """The next pages to ask about. Other ones after each batch, as the number of labels seeds the random part."""
    with closing(open_crawl(folder)) as db:
        known, pages = labels.answers(db), labels.judged(db)
        chosen = choose(pages, known, count, seed=len(known))
        full = labels.candidates(db, [one.page.n for one in chosen])
    asked = [Question(full[one.page.n], one.chosen) for one in chosen if one.page.n in full]
    return Chosen(asked, {page.url: page.on_topic for page in pages})


class Sent:
    """Hands labels to the running crawl, or else stores them for the next run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.number = 0  # labels that stand
        self.waits = False  # are there labels that no crawl has applied?

    def send(self, given: Mapping[str, bool | None], chosen: str) -> None:
        if not self._is_taken(Request("label", labels=dict(given), chosen=chosen)):
            offline.label(self.directory, given, chosen)
            self.waits = True
        self.number += sum(-1 if on_topic is None else 1 for on_topic in given.values())

    def _is_taken(self, request: Request) -> bool:
        """Whether a running crawl has taken the labels. One that starts or ends does not respond for a moment, and
        nobody should lose an answer to that."""
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                reach(self.directory, request)
                return True
            except Unreachable:
                return False
            except Unresponsive:
                if time.monotonic() > until:
                    raise
            time.sleep(_PAUSE_S)

    def apply(self) -> None:
        """Judge all stored pages with the labels, unless a running crawl has done so already."""
        if not self.waits:
            return
        try:
            offline.apply_labels(self.directory)
        except BadInput as error:
            raise BadInput(f"{error} (the labels are stored: the next run applies them)") from None
        self.waits = False


def count_changed(db: CrawlDb, before: Mapping[str, bool]) -> int:
    """How many of the pages have another verdict now."""
    now = {page.url: page.on_topic for page in labels.judged(db)}
    return sum(now.get(url, on_topic) != on_topic for url, on_topic in before.items())


def precision(db: CrawlDb) -> Precision | None:
    return labels.precision(labels.count_labels(db))


def taught_judge(directory: Path) -> Any:
    """The judge as the crawl has taught it, to find the telling passages."""
    topic = topics.load(directory)
    with topic.source.placing():
        topics.prepare(topic, read_pages)
    topics.recall(topic)
    return topic.judge


def stored_page(directory: Path, settings: config.Config, page: Candidate) -> Page:
    """The copy in the WARC; an empty page where there is none, or none that can be read."""
    if not page.warc:
        return Page()
    try:
        answer = to_response(read_record(directory / "warc" / page.warc, page.warc_offset), page.warc_offset)
        reply = Reply(Link(page.url), page.final_url, answer.status, page.content_type, answer.body)
        return build.make_parsers(settings).parse(reply)
    except (BadInput, OSError, ValueError):
        return Page()


def open_crawl(directory: Path) -> CrawlDb:
    config.load(directory)  # says what is wrong if this is not a crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()


def number_of(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def what_changed(sent: int, changed: int) -> str:
    return f"{number_of(sent, 'label')} changed {number_of(changed, 'verdict')}"
