"""Exceptions with fields: one line for users, structured data for programs. Messages never need to be parsed.

Failures of the Web are values (`Reply.error`), never exceptions.
"""

from pathlib import Path
from types import TracebackType
from typing import Any


class LycosaError(Exception):
    """Base class of all exceptions that Lycosa raises on purpose. The message is one line that can be shown to users as
    it is."""

    exit_code = 2
    fields: tuple[str, ...] = ()  # the arguments it was made with

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild the error from its fields, so that it arrives whole in another process."""
        return type(self), tuple(getattr(self, name) for name in self.fields) or self.args


class BadInput(LycosaError):
    """Invalid user input: one line that says what and where. The command line exits with code 2."""


class ConfigError(BadInput):
    """A key of crawl.toml has an invalid value.

    The component that raises it knows the key and the problem; the file and the line are added where the file was read.
    """

    fields = ("key", "problem", "file", "line", "option")

    def __init__(self, key: str, problem: str, file: Path | None = None, line: int = 0, option: str = "") -> None:
        self.key = key  # section.name, or only the section
        self.problem = problem
        self.file = file
        self.line = line  # 0: the key is not set in the file
        self.option = option  # the command-line option that set it, if any
        place = f"{file}, line {line}" if line else str(file or "")
        where = [f"{option} {key}"] if option else [place, key]
        super().__init__(": ".join(filter(None, [*where, problem])))


class StateError(BadInput):
    """The stored state of a crawl cannot be read or written: a full disk, a damaged or missing file."""

    fields = ("path", "problem")

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path = Path(path)
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class PluginError(LycosaError):
    """A bug in a judge or a strategy, built-in or not. The command line exits with code 70."""

    exit_code = 70  # EX_SOFTWARE of sysexits.h
    fields = ("part", "module", "problem", "log")

    def __init__(self, part: str, module: str, problem: str, log: Path | None = None) -> None:
        self.part = part  # "judge" or "strategy"
        self.module = module
        self.problem = problem
        self.log = log  # where the traceback is
        where = f"; the traceback is in {log}" if log else ""
        super().__init__(f"a bug in the {part} {module}: {problem}{where}")


class TooCostly(ValueError):
    """Parsing the page would exceed the time or memory limit for a page."""


def plugin_error(error: BaseException, parts: dict[str, object], log: Path | None = None) -> PluginError | None:
    """The exception to raise instead of an error caused by one of the parts (judge, strategy); None if none of them
    caused it."""
    if isinstance(error, PluginError):
        return PluginError(error.part, error.module, error.problem, log)
    if isinstance(error, LycosaError) or not (name := raised_by(error, parts)):
        return None
    return PluginError(name, type(parts[name]).__module__, described(error), log)


def described(error: BaseException) -> str:
    """Type and message of any exception, in one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200].removesuffix(":")


def raised_by(error: BaseException, parts: dict[str, object]) -> str:
    """The name of the part whose code raised an error; empty if none did.

    This is decided by the innermost frame that runs a method of a part, or code of its module. A database that fails
    while a part uses it is not a bug of that part.
    """
    frames = _frames(error.__traceback__)
    for module, owner in reversed(frames):
        if module == "lycosa.store.db":
            return ""
        owners = [name for name, part in parts.items() if owner is part]
        if owners := owners or [name for name, part in parts.items() if module == type(part).__module__]:
            return owners[0]
    return ""


def modules_in(error: BaseException) -> list[str]:
    """The modules through which an error passed, outermost first."""
    return [module for module, _ in _frames(error.__traceback__)]


def _frames(traceback: TracebackType | None) -> list[tuple[str, object]]:
    """Module and `self` of each frame, outermost first."""
    found = []
    while traceback:
        frame = traceback.tb_frame
        found.append((str(frame.f_globals.get("__name__", "")), frame.f_locals.get("self")))
        traceback = traceback.tb_next
    return found


def innermost(error: BaseException) -> BaseException:
    """The cause inside an exception group: all its exceptions are the same."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
