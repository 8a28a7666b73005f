"""The message when a command fails: one line, and no traceback unless LYCOSA_TRACEBACK is set."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lycosa.errors import LycosaError

_DAMAGE = (msgspec.DecodeError, ValueError, TypeError, AttributeError, LookupError, OverflowError)  # by corrupt values


def explain(error: BaseException, arguments: Sequence[str]) -> str:
    """The line for an error that ends a command; empty if a traceback should be shown."""
    if isinstance(error, LycosaError):
        return str(error)
    if os.environ.get("LYCOSA_TRACEBACK"):
        return ""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, sqlite3.DatabaseError):
        return f"{_database(arguments)}: {error}"
    if isinstance(error, _DAMAGE) and (database := _database(arguments)).exists():
        kind = type(error).__name__
        return f"{database}: seems damaged, or this is a bug (LYCOSA_TRACEBACK=1 shows where): {kind}: {error}"
    return ""


def _database(arguments: Sequence[str]) -> Path:
    """The database of the first argument that names a crawl."""
    found = (Path(argument) / "crawl.db" for argument in arguments if not argument.startswith("-"))
    return next((path for path in found if os.path.exists(path)), Path("crawl.db"))
