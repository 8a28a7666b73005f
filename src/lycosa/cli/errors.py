"""The message when a command fails: one line, and no traceback unless LYCOSA_TRACEBACK is set."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lycosa.errors import LycosaError, PluginError, described, modules_in

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
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if plugin := _blamed(error):
        return f"{plugin} (LYCOSA_TRACEBACK=1 shows where)"
    if _is_damage(error, arguments):
        kind, database = type(error).__name__, _database(arguments)
        return f"{database}: seems damaged, or this is a bug (LYCOSA_TRACEBACK=1 shows where): {kind}: {error}"
    ours = [module for module in modules_in(error) if module.partition(".")[0] == "lycosa"]
    module = ours[-1] if ours else "lycosa"
    return f"a bug, please report it: {described(error)}, in {module} (LYCOSA_TRACEBACK=1 shows where)"


def exit_code(error: BaseException, arguments: Sequence[str]) -> int:
    """2 for whatever the user may have caused, 70 for a bug."""
    if known := error if isinstance(error, LycosaError) else _blamed(error):
        return known.exit_code
    may_be_input = isinstance(error, MemoryError | OSError | sqlite3.DatabaseError) or _is_damage(error, arguments)
    return LycosaError.exit_code if may_be_input else PluginError.exit_code


def _is_damage(error: BaseException, arguments: Sequence[str]) -> bool:
    return isinstance(error, _DAMAGE) and _database(arguments).exists()


def _blamed(error: BaseException) -> PluginError | None:
    from lycosa.plugins import blamed  # here, so that commands that succeed start faster

    return blamed(error)


def _database(arguments: Sequence[str]) -> Path:
    """The database of the first argument that names a crawl."""
    found = (Path(argument) / "crawl.db" for argument in arguments if not argument.startswith("-"))
    return next((path for path in found if os.path.exists(path)), Path("crawl.db"))
