"""Parts from other packages: found by entry point, loaded only when a crawl names them.

A plug-in that cannot be used is reported in one line that names its package and entry point; while no crawl uses it, it
does no harm.
"""

import dataclasses
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from lycosa.errors import PluginError, described, modules_in
from lycosa.types import BadInput


class Kind(NamedTuple):
    """A kind of plug-in."""

    word: str
    group: str  # of the entry points
    methods: tuple[str, ...]  # required methods
    has_keys: bool = False  # whether it is a dataclass whose fields are keys of crawl.toml


JUDGE = Kind("judge", "lycosa.judges", ("judge",), has_keys=True)
STRATEGY = Kind("strategy", "lycosa.strategies", ("score", "merge", "learn"), has_keys=True)
PARSER = Kind("parser", "lycosa.parsers", ("parse",))
SINK = Kind("sink", "lycosa.sinks", ("write",))
ENGINE = Kind("search engine", "lycosa.engines", ("search",))
FETCHER = Kind("fetch layer", "lycosa.fetchers", ("fetch",))
KINDS = (JUDGE, STRATEGY, PARSER, SINK, ENGINE, FETCHER)

_log = logging.getLogger(__name__)


class BrokenPlugin(BadInput):
    """A part from another package cannot be used, or failed during use."""

    def __init__(self, kind: Kind, entry: EntryPoint, problem: str) -> None:
        self.package = entry.dist.name if entry.dist else ""
        self.group = kind.group
        self.name = entry.name
        self.problem = problem
        package = f" of package {self.package}" if self.package else ""
        super().__init__(f"{kind.word} {entry.name!r}{package} ({kind.group}: {entry.value}): {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the message is passed from a process of the lab to its parent."""
        return BadInput, self.args


class Plugins(Mapping[str, type]):
    """Maps names to classes: built-in ones, and those of installed packages, which are imported on lookup."""

    def __init__(self, kind: Kind, ours: Mapping[str, type] | None = None) -> None:
        self.kind = kind
        self.ours = dict(ours or {})

    @cached_property
    def theirs(self) -> dict[str, EntryPoint]:
        """Entry points of installed packages. Names are unique: built-in classes take precedence, then packages by
        name."""
        found: dict[str, EntryPoint] = {}
        offered = entry_points(group=self.kind.group)
        for entry in sorted(offered, key=lambda entry: (entry.name, entry.dist.name if entry.dist else "")):
            if entry.name in self.ours or entry.name in found:
                _log.warning("%s", BrokenPlugin(self.kind, entry, "ignored, the name is already in use"))
            else:
                found[entry.name] = entry
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.ours or name in self.theirs  # without importing anything

    def __iter__(self) -> Iterator[str]:
        yield from self.ours
        yield from self.theirs

    def __len__(self) -> int:
        return len(self.ours) + len(self.theirs)

    def __getitem__(self, name: str) -> type:
        return self.ours[name] if name in self.ours else self._load(self.theirs[name])

    def _load(self, entry: EntryPoint) -> type:
        try:
            found = entry.load()
        except (Exception, SystemExit) as error:  # importing a module may raise anything
            raise self._error(entry, f"cannot be loaded: {_in_short(error)}") from error
        if not isinstance(found, type):
            raise self._error(entry, "not a class")
        if self.kind.has_keys and not dataclasses.is_dataclass(found):
            raise self._error(entry, "not a dataclass, so crawl.toml could not fill its fields")
        for method in self.kind.methods:
            if not callable(getattr(found, method, None)):
                raise self._error(entry, f"has no method {method!r}")
        return found

    def make(self, name: str, *arguments: Any) -> Any:
        """Create an object of the class from the arguments for plug-ins of this kind."""
        kind = self[name]
        with self.blaming(name):
            return kind(*arguments)

    @contextmanager
    def blaming(self, name: str, doing: str = "") -> Iterator[None]:
        """Name the plug-in if it fails; errors in built-in parts, and bad input, are passed through."""
        try:
            yield
        except BadInput:
            raise
        except Exception as error:
            if name in self.ours or name not in self.theirs:
                raise
            raise self.error(name, f"{doing}: {_in_short(error)}" if doing else _in_short(error)) from error

    def error(self, name: str, problem: str) -> BrokenPlugin:
        return self._error(self.theirs[name], problem)

    def _error(self, entry: EntryPoint, problem: str) -> BrokenPlugin:
        return BrokenPlugin(self.kind, entry, problem)


def blamed(error: BaseException) -> PluginError | None:
    """The error to show instead, if the code of an installed plug-in raised it."""
    words: dict[str, set[str]] = {}
    for kind in KINDS:
        for entry in entry_points(group=kind.group):
            words.setdefault(entry.module.partition(".")[0], set()).add(kind.word)
    for module in reversed(modules_in(error)):
        if found := words.get(module.partition(".")[0]):
            return PluginError(found.pop() if len(found) == 1 else "plug-in", module, described(error))
    return None


def _in_short(error: BaseException) -> str:
    """One line, whatever the message."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
