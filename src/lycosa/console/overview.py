"""One crawl in a few facts: what it is doing, why, and what it has found."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from lycosa import config, remote
from lycosa.console.jobs import Jobs
from lycosa.errors import BadInput

STATES = ("new", "starting", "judging", "crawling", "paused", "ended", "interrupted", "broken")


class Overview(Struct, frozen=True):
    """What the list of crawls and the head of every page say about a crawl."""

    name: str
    state: str  # one of STATES
    status: str  # one sentence: what it is doing or waiting for, or why it stopped
    pages: int = 0
    relevant: int = 0
    harvest_rate: float = 0.0
    waiting: int = 0
    errors: int = 0
    seconds: float = 0.0
    page_limit: int = 0
    recall: str = ""  # in words
    drift: str = ""  # how recent relevant pages differ from the first ones, if they do

    @property
    def is_active(self) -> bool:
        return self.state in ("starting", "judging", "crawling", "paused")


def overview(name: str, folder: Path, jobs: Jobs) -> Overview:
    """Read from summary.json, without a question to the crawl: looking on costs it nothing."""
    try:
        settings = config.load(folder)[0]
    except BadInput as error:
        return Overview(name, "broken", str(error))
    found = remote.read_summary(folder)
    state, status = _state(folder, found, jobs)
    return Overview(
        name,
        state,
        status,
        pages=found.get("pages", 0),
        relevant=found.get("relevant", 0),
        harvest_rate=found.get("harvest_rate", 0.0),
        waiting=found.get("waiting", 0),
        errors=sum(found.get("errors", {}).values()),
        seconds=found.get("seconds", 0.0),
        page_limit=settings.limits.pages,
        recall=found.get("recall", {}).get("words", ""),
        drift=found.get("drift", ""),
    )


def _state(folder: Path, found: dict[str, Any], jobs: Jobs) -> tuple[str, str]:
    if remote.is_listening(folder):
        if not found or found.get("ended"):  # of an earlier run
            return "crawling", "started just now"
        return "paused" if found.get("paused") else "crawling", found.get("status") or "fetching pages"
    if jobs.is_judging(folder):
        return "judging", "judging all stored pages again"
    if jobs.is_active(folder):
        return "starting", "starting"
    if problem := jobs.problem(folder):
        return "interrupted", problem
    if not found:
        return "new", "not started yet"
    if found.get("ended"):
        return "ended", str(found["ended"])
    return "interrupted", "interrupted; start it again to continue"
