"""A topic outside a crawl: load it, prepare it, try it on pages, test it. Shared by the command line and the API."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from lycosa import build, config
from lycosa.judge.corpus import ReadPages, Source, labelled_pages
from lycosa.judge.corrected import Corrected
from lycosa.judge.training import Learner
from lycosa.stamp import fits
from lycosa.store.db import CrawlDb, is_stored
from lycosa.types import (
    BadInput,
    Judge,
    Learns,
    Link,
    Page,
    Prepares,
    Remembers,
    Reply,
    Revises,
    Stateful,
    Verdict,
    Visit,
)


class Topic(NamedTuple):
    """A judge that is not prepared yet, and the location of its files."""

    judge: Any
    kind: str
    folder: Path
    settings: config.Config
    source: config.Source


def load(path: Path) -> Topic:
    """The topic of a crawl folder, or of a .toml file."""
    settings, source = config.load(path)
    return make(settings, source)


def make(settings: config.Config, source: config.Source) -> Topic:
    if not settings.topic:
        raise source.blame("topic", "this section is needed: say what to look for")
    judge = build.make("topic", build.judges(), settings.topic, source)
    return Topic(judge, str(settings.topic["kind"]), source.path.parent, settings, source)


def with_target(topic: Topic, target: Sequence[str]) -> Topic:
    """The same topic, not prepared, with these labels as its target; itself if it has no target or none is given."""
    if not target or not isinstance(topic.judge, Learner):
        return topic
    return topic._replace(judge=dataclasses.replace(cast(Any, topic.judge), target=list(target)))


def prepare(topic: Topic, read: ReadPages) -> None:
    """Prepare the judge, as a crawl would."""
    if isinstance(topic.judge, Prepares):
        with build.judges().blaming(topic.kind, "prepare"):
            topic.judge.prepare(topic.folder, read)


def recall(topic: Topic) -> None:
    """Load what the judge has learned so far from the crawl in its folder."""
    database = topic.folder / "crawl.db"
    if is_stored(database) and isinstance(topic.judge, Stateful):
        db = CrawlDb(database, readonly=True).open()
        try:
            if isinstance(topic.judge, Remembers):
                topic.judge.connect(db, at_once=False)
            if fits(topic.judge, state := db.get("state:judge")):
                topic.judge.load(msgspec.json.decode(state))
        finally:
            db.close()


def with_labels(topic: Topic) -> Judge:
    """The judge, corrected by the labels given so far to the crawl in its folder."""
    corrected, database = Corrected(topic.judge), topic.folder / "crawl.db"
    if is_stored(database):
        with closing(CrawlDb(database, readonly=True).open()) as db:
            corrected.recall(db)
    return corrected


def learner(topic: Topic, instead: str) -> Learner:
    """The judge, which must be one that is trained on labelled pages."""
    if not isinstance(topic.judge, Learner):
        raise BadInput(f"{topic.source.path}: a topic of kind {topic.kind!r} {instead}")
    return topic.judge


def find_labelled(topic: Topic, on: str, read: ReadPages, option: str = "on") -> Iterator[tuple[str, Page]]:
    """Label and page of everything in WARC:LABELS, or in a folder with one subfolder per label."""
    pages, colon, labels = on.rpartition(":")
    source = Source(Path(pages), Path(labels)) if colon else Source(Path(on))
    if not source.pages.exists() or not (colon or source.pages.is_dir()):
        raise BadInput(f"{option} {on}: neither WARC:LABELS nor a folder with one sub-folder per label")
    for _, label, page in labelled_pages(source, read, nested=topic.kind == "taxonomy"):
        yield label, page


async def judge_labelled(topic: Topic, pages: Iterable[tuple[str, Page]]) -> list[tuple[str, Verdict]]:
    """The class of each page, if known to the judge, and the verdict at the end of a crawl of these pages."""
    judge, judged = topic.judge, dict[str, tuple[str, Verdict]]()
    for number, (label, page) in enumerate(pages):
        name, verdict = str(number), await judge.judge(page)
        judged[name] = label, verdict
        if isinstance(judge, Learns):
            judge.learn(Visit(Reply(Link(name)), page, verdict, digest=name))
        for other, revised in judge.revised() if isinstance(judge, Revises) else ():
            judged[other] = judged[other][0], revised
    if isinstance(judge, Learner) and (known := judge.classifier_.labels):
        return [(judge.class_of(label, known), verdict) for label, verdict in judged.values()]
    return [*judged.values()]


async def judge_each(judge: Judge, pages: Iterable[Page]) -> list[Verdict]:
    """Judge each page as if it were the next one of the crawl: nothing is learned from them."""
    return [await judge.judge(page) for page in pages]


def targets(topic: Topic, labels: Sequence[str], given: Sequence[str], option: str = "target") -> list[str]:
    """Those labels of the tested pages that are on topic."""
    if isinstance(topic.judge, Learner):
        return topic.judge.targets(sorted(set(labels)))
    if missing := set(given) - set(labels):
        raise BadInput(
            f"{option} {sorted(missing)[0]}: no page has this label (there are: {', '.join(sorted(set(labels)))})"
        )
    if not given:
        raise BadInput(f"{option}: say which labels are on topic")
    return list(given)
