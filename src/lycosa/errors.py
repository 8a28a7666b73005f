"""What can go wrong, as kinds with fields: one line for people, facts for programs. Nobody parses a message.

What the web does wrong is a value (`Reply.error`), never an exception.
"""

from pathlib import Path
from types import TracebackType
from typing import Any


class LycosaError(Exception):
    """Everything Lycosa raises on purpose. Its text is one line that can be shown to a user as it is."""

    exit_code = 2
    fields: tuple[str, ...] = ()  # the arguments it was made with

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again from its fields on its way from another process; by default only the message would travel."""
        return type(self), tuple(getattr(self, name) for name in self.fields) or self.args


class BadInput(LycosaError):
    """The user's input cannot be used: one line that names what and where. The command line exits with code 2."""


class ConfigError(BadInput):
    """A key of crawl.toml has a value that cannot be used.

    A part of the crawl knows the key and the problem; whoever has read the file adds the file and the line.
    """

    fields = ("key", "problem", "file", "line", "option")

    def __init__(self, key: str, problem: str, file: Path | None = None, line: int = 0, option: str = "") -> None:
        self.key = key  # section.name, or the section alone
        self.problem = problem
        self.file = file
        self.line = line  # 0: the file does not set the key
        self.option = option  # the option of the command line that set it, if one did
        place = f"{file}, line {line}" if line else str(file or "")
        where = [f"{option} {key}"] if option else [place, key]
        super().__init__(": ".join(filter(None, [*where, problem])))


class StateError(BadInput):
    """What a crawl has stored cannot be read or written: a full disk, a damaged or a missing file."""

    fields = ("path", "problem")

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path = Path(path)
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class PluginError(LycosaError):
    """A bug in a judge or a strategy, ours or somebody else's. The command line exits with code 70."""

    exit_code = 70  # EX_SOFTWARE of sysexits.h
    fields = ("part", "module", "problem", "log")

    def __init__(self, part: str, module: str, problem: str, log: Path | None = None) -> None:
        self.part = part  # judge or strategy
        self.module = module
        self.problem = problem
        self.log = log  # where the traceback is
        where = f"; the traceback is in {log}" if log else ""
        super().__init__(f"a bug in the {part} {module}: {problem}{where}")


def plugin_error(error: Exception, parts: dict[str, object], log: Path | None = None) -> PluginError | None:
    """What to raise in place of an error that one of the parts (judge, strategy) is to blame for; None if none is."""
    if isinstance(error, PluginError):
        return PluginError(error.part, error.module, error.problem, log)
    if isinstance(error, LycosaError) or not (name := raised_by(error, parts)):
        return None
    return PluginError(name, type(parts[name]).__module__, described(error), log)


def described(error: BaseException) -> str:
    """Kind and message of any exception, in one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200].removesuffix(":")


def raised_by(error: BaseException, parts: dict[str, object]) -> str:
    """The name of the part whose code raised an error; empty if none did.

    The innermost frame that runs a method of a part, or code of its module, decides. A database that fails while a part
    uses it is not a bug of that part.
    """
    frames = _frames(error.__traceback__)
    for module, owner in reversed(frames):
        if module == "lycosa.store.db":
            return ""
        owners = [name for name, part in parts.items() if owner is part]
        if owners := owners or [name for name, part in parts.items() if module == type(part).__module__]:
            return owners[0]
    return ""


def _frames(traceback: TracebackType | None) -> list[tuple[str, object]]:
    """Module and `self` of each frame, the outermost first."""
    found = []
    while traceback:
        frame = traceback.tb_frame
        found.append((str(frame.f_globals.get("__name__", "")), frame.f_locals.get("self")))
        traceback = traceback.tb_next
    return found
