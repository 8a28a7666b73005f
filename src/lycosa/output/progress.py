"""Show a crawl as it goes: a live display on a terminal, a plain line every few seconds elsewhere."""

import contextlib
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

LINE_EVERY_S = 5.0


class Progress:
    """Receives the summary about once a second; use it as a context."""

    def __init__(self, console: Console, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._title = title
        self._clock = clock
        self._recent: deque[tuple[float, int]] = deque(maxlen=6)
        self._printed_at = clock() - LINE_EVERY_S + 1.0
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None

    def __enter__(self) -> "Progress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, summary: dict[str, Any]) -> None:
        now = self._clock()
        self._recent.append((now, summary["pages"]))
        if self._live:
            self._live.update(self._table(summary))
        elif summary["ended"] or now - self._printed_at >= LINE_EVERY_S:
            self._printed_at = now
            with contextlib.suppress(SystemExit):  # nobody reads any more (`| head`): the crawl goes on
                self._console.print(Text(self.line(summary)), soft_wrap=True)

    def line(self, summary: dict[str, Any]) -> str:
        """One line for a log."""
        facts = ", ".join(f"{name} {value}" for name, value in self._facts(summary))
        reason = waits_for(summary)
        return f"{self._title}: {facts}{f', {reason}' if reason else ''}"

    def _table(self, summary: dict[str, Any]) -> Table:
        table = Table.grid(padding=(0, 2))
        facts = self._facts(summary)
        table.add_row(Text(self._title, style="bold"), *(Text(name, style="dim") for name, _ in facts))
        table.add_row(Text(waits_for(summary) or "crawling"), *(Text(value, style="cyan") for _, value in facts))
        return table

    def _facts(self, summary: dict[str, Any]) -> list[tuple[str, str]]:
        return [
            ("pages", f"{summary['pages']:,}"),
            ("pages/s", f"{self._speed():.1f}"),
            ("relevant", f"{summary['relevant']:,}"),
            ("harvest", f"{summary['harvest_rate']:.3f}"),
            ("frontier", f"{summary['waiting']:,}"),
            ("hosts due/waiting", f"{summary['hosts_due']:,}/{summary['hosts_resting']:,}"),
            ("errors", f"{sum(summary['errors'].values()):,}"),
        ]

    def _speed(self) -> float:
        """Pages a second over the last few reports."""
        if len(self._recent) < 2:
            return 0.0
        (start, before), (end, after) = self._recent[0], self._recent[-1]
        return (after - before) / (end - start) if end > start else 0.0


def waits_for(summary: dict[str, Any]) -> str:
    """Why nothing happens, when nothing happens; why it ended, when it ended."""
    if summary["ended"]:
        return str(summary["ended"])
    if summary["hosts_due"] or summary["in_flight"] or not summary["hosts_resting"]:
        return ""
    until = datetime.fromtimestamp(summary["next_due"]).strftime("%H:%M:%S") if summary["next_due"] else "later"
    hosts = summary["hosts_resting"]
    return f"{hosts} host{'s wait' if hosts != 1 else ' waits'} until {until}"
