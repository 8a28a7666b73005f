"""Which topic judged the pages of a crawl: a stamp in crawl.db ensures that verdicts of different topics are never
mixed.

It contains the keys of [topic], defaults included, and a fingerprint of each file they name.
"""

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from lycosa import config
from lycosa.judge.corpus import Source, as_list, digest
from lycosa.store.db import CrawlDb
from lycosa.store.visited import is_judged
from lycosa.types import BadInput, Stateful

_KEY, _STATE = "topic", "state:judge"  # keys in crawl.db


class Stamp(Struct, frozen=True):
    """A topic at the time it judged."""

    kind: str
    keys: dict[str, Any] = {}
    files: dict[str, str] = {}  # from key to fingerprint

    def changes(self, now: "Stamp") -> list[str]:
        """What has changed, in words."""
        if self.kind != now.kind:
            return [f"kind was {self.kind} and is {now.kind}"]
        names = [name for name in now.keys if name in self.keys and self.keys[name] != now.keys[name]]
        files = [name for name in now.files if name not in names and self.files.get(name) != now.files[name]]
        return [_change(name, self.keys[name], now.keys[name]) for name in names] + [
            f"the content of {name} has changed" for name in files
        ]


def make_stamp(judge: Any, kind: str, folder: Path) -> Stamp:
    """The stamp of a judge that is ready to judge."""
    keys = {field.name: getattr(judge, field.name) for field in dataclasses.fields(judge) if field.init}
    if classifier := getattr(judge, "classifier_", None):  # it knows its sources, even if they no longer exist
        files = {"examples": classifier.facts.source}
    else:
        names = {"examples", "labels", "file"} | ({"idf"} if kind == "ontology" else set())  # otherwise a formula
        files = {name: digest(Source(folder / path) for path in as_list(keys[name])) for name in names & keys.keys()}
    return Stamp(kind, msgspec.json.decode(msgspec.json.encode(keys)), files)  # as it will be read from crawl.db


def what_changed(db: CrawlDb, judge: Any, now: Stamp) -> list[str]:
    """How the topic differs from the one that judged this crawl's pages; if it does not, the crawl is stamped."""
    text, state = db.get(_KEY), db.get(_STATE)
    changes = msgspec.json.decode(text, type=Stamp).changes(now) if text else []
    if not text and not fits(judge, state) and (state or is_judged(db)):  # begun by a version without stamps
        changes = [f"kind is {now.kind} and was a different one"]
    if changes and is_judged(db):
        return changes
    if changes:
        db.put(_STATE, "")
    write_stamp(db, now)
    return []


def require_same(db: CrawlDb, judge: Any, settings: config.Config, folder: Path) -> None:
    """Verdicts of different topics cannot be compared, nor can scores of different strategies: a crawl keeps those it
    began with. `folder` is that of crawl.toml."""
    kind, problem = str(settings.strategy["kind"]), ""
    before = db.get("strategy", kind)
    now = make_stamp(judge, str(settings.topic["kind"]), folder)
    if before != kind:
        problem = f"this crawl began with strategy {before}; make a new folder for {kind}"
    elif changes := what_changed(db, judge, now):
        told = "; ".join(changes)
        problem = f"the topic has changed since its pages were judged ({told}); make a new folder"
    if problem:
        raise BadInput(f"{folder}: {problem}{_remedy(settings, folder)}")
    db.put("strategy", kind)


def _remedy(settings: config.Config, folder: Path) -> str:
    if not settings.store.warc:
        return ""
    with contextlib.suppress(BadInput):
        written = config.load(folder)[0]
        if (written.topic, written.strategy) != (settings.topic, settings.strategy):
            return f", or write it to {config.NAME} and judge the stored pages again: lycosa rejudge {folder}"
    return f", or judge the stored pages again: lycosa rejudge {folder}"


def changes_since(db: CrawlDb, now: Stamp) -> list[str]:
    """The same for a reader: nothing is written."""
    text = db.get(_KEY)
    return msgspec.json.decode(text, type=Stamp).changes(now) if text and is_judged(db) else []


def write_stamp(db: CrawlDb, stamp: Stamp) -> None:
    db.put(_KEY, msgspec.json.encode(stamp).decode())


def fits(judge: Any, state: str) -> bool:
    """Whether a judge of this kind saved this state, according to the names in it; judges without state save none."""
    if not state or not isinstance(judge, Stateful):
        return not state and not isinstance(judge, Stateful)
    return {*msgspec.json.decode(state), "words"} == {*judge.save(), "words"}  # early tables did not include the words


def _change(name: str, before: Any, now: Any) -> str:
    if isinstance(before, list) and isinstance(now, list):
        gone = [str(item) for item in before if item not in now]
        new = [str(item) for item in now if item not in before]
        parts = [f"{', '.join(new)} added"] * bool(new) + [f"{', '.join(gone)} removed"] * bool(gone)
        return f"{name}: {'; '.join(parts) or 'different order'}"
    return f"{name} was {_short(before)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."
