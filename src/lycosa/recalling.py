"""Builds the recall estimate of a crawl folder: which known pages are held out, and what earlier runs have seen."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from lycosa import config
from lycosa.errors import ConfigError, StateError
from lycosa.estimate.held_out import Draw, HeldOut, draw, leaving_out
from lycosa.estimate.recall import Estimate as Estimate
from lycosa.judge import model_file
from lycosa.judge.corpus import ReadPages, as_list, read_labels
from lycosa.seeds.file import read_seeds
from lycosa.store.db import CrawlDb
from lycosa.store.past import past_visits, seed_urls

STATE = "state:recall"  # in crawl.db


def make_estimate(folder: Path, written_in: Path, settings: config.Config, refuses: Callable[[str], str]) -> Estimate:
    """A new estimate with its held-out pages: those of the first run, or sampled now; `written_in` is the folder of
    crawl.toml, `refuses` the scope."""
    if held_out := _held_out_before(folder):
        return Estimate(held_out, settings.limits.recall)
    drawn = _draw(folder, written_in, settings, refuses)
    return Estimate(HeldOut(drawn.urls), settings.limits.recall, drawn.problem)


def resume(estimate: Estimate, db: CrawlDb) -> None:
    """Restore what earlier runs have seen."""
    if not (text := db.get(STATE)):  # a new crawl, or one begun by an older version
        estimate.catch_up(past_visits(db))
        return
    state = msgspec.json.decode(text) | {"problem": estimate.problem}
    if len(estimate.held_out) and not state["held_out"]["urls"]:  # known pages were configured only after the first run
        for visit in past_visits(db):
            estimate.held_out.write(visit)
        state["held_out"] = estimate.held_out.save()
    estimate.load(state)


def stored_estimate(db: CrawlDb) -> Estimate | None:
    """The estimate at the last commit."""
    if not (state := db.get(STATE)):
        return None
    estimate = Estimate()
    estimate.load(msgspec.json.decode(state))
    return estimate


def without_held_out(folder: Path, read: ReadPages) -> ReadPages:
    """Read pages to learn from, without those that the crawl in a folder has held out."""
    held_out = _held_out_before(folder)
    return leaving_out(held_out, read) if held_out else read


def save(estimate: Estimate, db: CrawlDb) -> None:
    db.put(STATE, msgspec.json.encode(estimate.save()).decode())


def _held_out_before(folder: Path) -> HeldOut | None:
    try:
        with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
            found = stored_estimate(db)
    except StateError:
        return None  # missing, or damaged, which is reported when it is opened for crawling
    return found.held_out if found and len(found.held_out) else None


def _draw(folder: Path, written_in: Path, settings: config.Config, refuses: Callable[[str], str]) -> Draw:
    rules = settings.recall
    if not rules.known:
        return Draw([])
    known, wrong = read_seeds(rules.known, written_in, "recall.known")
    if wrong:
        raise ConfigError("recall.known", wrong[0].removesuffix(", skipped"))
    seeds, _ = read_seeds(settings.seeds, written_in)
    used = [*_used(folder), *_taught(written_in, settings), *(url for url in known if refuses(url))]
    return draw(known, used, seeds, rules.share, rules.seed)


def _used(folder: Path) -> list[str]:
    """The URLs that earlier runs started from."""
    try:
        with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
            return seed_urls(db)
    except StateError:
        return []


def _taught(folder: Path, settings: config.Config) -> Iterable[str]:
    """The pages that a finished model was trained on, which it cannot unlearn."""
    if not (folder / model_file.NAME).exists():
        return ()
    files = [folder / name for name in as_list(settings.topic.get("labels", ""))]
    return [url for path in files if path.exists() for url in read_labels(path)]
