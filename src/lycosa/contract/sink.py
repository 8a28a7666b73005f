"""Does a sink keep to what the crawler relies on?"""

import inspect
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lycosa.contract.samples import web
from lycosa.types import Sink


def check_sink(make: Callable[[], Sink], check: Callable[[Path], None] | None = None) -> None:
    """All checks. `make` gives a new sink each time; `check` looks at what it left in the crawl folder."""
    visits = web()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in (visits[:5], visits[5:], []):  # a crawl, its continuation, and one that has nothing left to do
            sink: Any = make()
            assert callable(getattr(sink, "write", None)), f"{type(sink).__name__} has no method write"
            if hasattr(sink, "open"):
                sink.open(folder)
            for visit in part:
                given = sink.write(visit)
                if inspect.iscoroutine(given):
                    given.close()  # or Python would warn that nobody awaited it
                assert given is None, f"write() gives a {type(given).__name__}; it is not async, and gives nothing"
            if hasattr(sink, "close"):
                sink.close()
        assert visits == web(), "the sink has changed a visit: others receive the same one"
        if check:
            check(folder)
