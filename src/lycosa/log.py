"""crawl.log: what happened in a crawl, one JSON object per line, bounded in size and without passwords.

State changes are written here directly. Warnings and errors come from the standard `logging` of everything under
`lycosa`; levels and handlers set by an embedding application are not changed. Only records of the crawl itself are
written: several crawls may run in one process, each with its own log.
"""

import contextlib
import logging
import re
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import msgspec

from lycosa.errors import StateError
from lycosa.types import Visit

NAME = "crawl.log"
MAX_BYTES = 10_000_000  # it is then renamed to crawl.log.1, replacing the previous one
_MOST_TRACEBACK = 20_000  # characters per traceback

_current: ContextVar[Path | None] = ContextVar("crawl folder", default=None)
_events = logging.getLogger("lycosa.crawl")
_visits = logging.getLogger("lycosa.visit")
_unsafe = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")  # JSON escapes the rest itself
_userinfo = re.compile(r"(\w://)[^\s/@\"'\\]*@")


class CrawlLog:
    """The log of one crawl folder, open while the crawl runs."""

    def __init__(self, folder: Path, visits: bool = False, max_bytes: int = MAX_BYTES) -> None:
        self.path = folder / NAME
        self._folder = folder
        self._with_visits = visits
        self._max_bytes = max_bytes

    @contextlib.contextmanager
    def open(self) -> Iterator["CrawlLog"]:
        try:
            self._file = _JsonFile(self.path, self._max_bytes)
        except OSError as error:
            raise StateError(self.path, f"cannot be written: {error.strerror}") from None
        forward = _Forward(self._file, self._folder)
        mark = _current.set(self._folder)
        logging.getLogger("lycosa").addHandler(forward)
        try:
            yield self
        finally:
            logging.getLogger("lycosa").removeHandler(forward)
            _current.reset(mark)
            self._file.close()

    def event(self, name: str, **facts: Any) -> None:
        """Log a state change."""
        self._write(_events, logging.INFO, name, facts)

    def write(self, visit: Visit) -> None:
        """Called as a sink: write one line per visit, if enabled."""
        if not self._with_visits and not _visits.isEnabledFor(logging.DEBUG):
            return
        reply = visit.reply
        facts: dict[str, Any] = {"url": reply.link.url, "status": reply.status, "seconds": round(reply.seconds, 3)}
        optional = {
            "final_url": reply.url if reply.url != reply.link.url else "",
            "error": reply.error,
            "detail": reply.detail,
            "duplicate_of": visit.duplicate_of,
        }
        facts |= {name: value for name, value in optional.items() if value}
        if visit.is_distinct:
            facts |= {"relevance": round(visit.verdict.relevance, 4), "on_topic": visit.verdict.on_topic}
        self._write(_visits, logging.DEBUG, "visit", facts, self._with_visits)

    def _write(self, to: logging.Logger, level: int, name: str, facts: dict[str, Any], keep: bool = True) -> None:
        text = " ".join([name, *(f"{key}={value}" for key, value in facts.items())])
        record = to.makeRecord(to.name, level, "", 0, text, (), None, extra={"event": name, "facts": facts})
        if keep:
            self._file.handle(record)
        if to.isEnabledFor(level):
            to.handle(record)


class _Forward(logging.Handler):
    """Forwards warnings and errors of one crawl to its file."""

    def __init__(self, file: logging.Handler, folder: Path) -> None:
        super().__init__(logging.WARNING)
        self._file = file
        self._folder = folder

    def emit(self, record: logging.LogRecord) -> None:
        if _current.get() == self._folder and not hasattr(record, "event"):
            self._file.handle(record)


class _JsonFile(RotatingFileHandler):
    """Writes JSON lines; a full disk does not stop a crawl because of its log."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        super().__init__(path, maxBytes=max_bytes, backupCount=1, encoding="utf-8", errors="backslashreplace")

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        if event := getattr(record, "event", ""):
            line |= {"event": event, **getattr(record, "facts", {})}
        else:
            line |= {"event": "message", "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = logging.Formatter().formatException(record.exc_info)[-_MOST_TRACEBACK:]
        return _escaped(without_passwords(msgspec.json.encode(line, enc_hook=str).decode()))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is defined by logging
        """Ignore what cannot be logged."""


def _escaped(text: str) -> str:
    """The same JSON without characters that would control a terminal: people read logs with `cat` and `tail`."""
    return _unsafe.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def without_passwords(text: str) -> str:
    """The text with user names and passwords removed from its URLs."""
    return _userinfo.sub(r"\1***@", text)
