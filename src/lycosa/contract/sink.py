"""Checks for sinks."""

import inspect
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lycosa.contract.samples import web
from lycosa.types import Sink


def check_sink(make: Callable[[], Sink], check: Callable[[Path], None] | None = None) -> None:
    """Run all checks. `make` returns a new sink; `check` inspects what it left in the crawl folder."""
    visits = web()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in (visits[:5], visits[5:], []):  # a crawl, its continuation, and a run with nothing left to do
            sink: Any = make()
            assert callable(getattr(sink, "write", None)), f"{type(sink).__name__} has no method write"
            if hasattr(sink, "open"):
                sink.open(folder)
            for visit in part:
                given = sink.write(visit)
                if inspect.iscoroutine(given):
                    given.close()  # or Python would warn that it was never awaited
                assert given is None, (
                    f"write() returned a {type(given).__name__}; it must not be async, and must return nothing"
                )
            if hasattr(sink, "close"):
                sink.close()
        assert visits == web(), "the sink modified a visit, which others receive too"
        if check:
            check(folder)
