"""Show the progress of a crawl: a live display on a terminal, a plain line every few seconds elsewhere."""

import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from lycosa.output.display import Display
from lycosa.output.show import duration
from lycosa.output.terminal import printable

LINE_EVERY_S = 5.0
_SPEED_OVER = 6  # reports: the current speed
_LEFT_OVER = 61  # reports: enough to keep the estimated time left steady
_TREND_FROM = 20  # pages: fewer do not make a trend
_TREND_STEP = 0.1  # relative to the rate: smaller differences count as steady


class Progress:
    """Receives the summary about once a second; use it as a context manager."""

    def __init__(self, console: Console, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._title = title
        self._clock = clock
        self._recent: deque[tuple[float, int, int]] = deque(maxlen=_LEFT_OVER)  # time, pages, relevant pages
        self._printed_at = clock() - LINE_EVERY_S + 1.0
        self._display = Display(console) if console.is_terminal and not console.is_dumb_terminal else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._display:
            self._display.close()

    def __call__(self, summary: dict[str, Any]) -> None:
        now = self._clock()
        self._recent.append((now, summary["pages"], summary["relevant"]))
        if self._display:
            self._display.show(self._lines(summary))
        elif summary["ended"] or now - self._printed_at >= LINE_EVERY_S:
            self._printed_at = now
            with contextlib.suppress(SystemExit):  # the reader is gone (`| head`), but the crawl continues
                self._console.print(Text(self.line(summary)), soft_wrap=True)

    def line(self, summary: dict[str, Any]) -> str:
        """One line for a log."""
        errors = sum(summary["errors"].values())
        parts = [
            f"pages {self._pages(summary)}",
            f"pages/s {self._speed(summary):.1f}",
            *([f"time left {left}"] if (left := self._left(summary)) else []),
            f"relevant {summary['relevant']:,}",
            f"harvest {_harvest(summary)}",
            f"frontier {summary['waiting']:,}",
            f"hosts due/resting {summary['hosts_due']:,}/{summary['hosts_resting']:,}",
            f"errors {errors:,}",
            *([reason] if (reason := waits_for(summary)) else []),
        ]
        return f"{self._title}: {', '.join(parts)}"

    def _lines(self, summary: dict[str, Any]) -> list[Text]:
        """The live display: speed, harvest, the last relevant page, what the crawl is waiting for."""
        left = self._left(summary)
        good = summary.get("last_good") or {}
        errors = sum(summary["errors"].values())
        lines = [
            _facts(
                (self._title, ""),
                ("pages", self._pages(summary)),
                ("pages/s", f"{self._speed(summary):.1f}"),
                *([("time left", f"about {left}")] if left else []),
            ),
            _facts(("relevant", f"{summary['relevant']:,}"), ("harvest", _harvest(summary))),
            _facts(
                ("frontier", f"{summary['waiting']:,}"),
                ("hosts due", f"{summary['hosts_due']:,}"),
                ("resting", f"{summary['hosts_resting']:,}"),
                ("errors", f"{errors:,}"),
            ),
        ]
        if good:
            lines.append(_facts(("last relevant page", printable(good["title"]).strip() or "(no title)")))
            lines.append(Text(f"  {printable(good['url'])}"))
        lines.append(Text(waits_for(summary) or "crawling", "dim"))
        return lines

    def _pages(self, summary: dict[str, Any]) -> str:
        limit = summary.get("limits", {}).get("pages", 0)
        return f"{summary['pages']:,} of {limit:,}" if limit else f"{summary['pages']:,}"

    def _speed(self, summary: dict[str, Any]) -> float:
        """Pages per second over the last few reports; over the whole run at the end, or with fewer than two reports."""
        recent = [*self._recent][-_SPEED_OVER:]
        if summary["ended"] or len(recent) < 2 or recent[-1][0] <= recent[0][0]:
            spent = summary.get("seconds", 0.0)
            return float(summary["pages"] / spent) if spent else 0.0
        return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])

    def _left(self, summary: dict[str, Any]) -> str:
        """The estimated time until the first limit is reached; empty if it cannot be estimated."""
        limits = summary.get("limits", {})
        if summary["ended"] or summary.get("paused") or len(self._recent) < 2:
            return ""
        (start, pages, relevant), (end, *now) = self._recent[0], self._recent[-1]
        left = []
        for limit, before, after in ((limits.get("pages"), pages, now[0]), (limits.get("relevant"), relevant, now[1])):
            if limit and after > before:
                left.append((limit - after) * (end - start) / (after - before))
        if limits.get("seconds"):
            left.append(limits["seconds"] - summary["seconds"])
        return duration(max(0.0, round(min(left)))) if left else ""


def _facts(*facts: tuple[str, str]) -> Text:
    """Names and values on one line; a name without a value is a heading."""
    parts = (
        Text.assemble((name, "dim"), " ", (value, "cyan")) if value else Text(name, style="bold")
        for name, value in facts
    )
    return Text("  ").join(parts)


def _harvest(summary: dict[str, Any]) -> str:
    """The harvest rate over all pages, and its trend."""
    overall = summary["harvest_rate"]
    pages, recent = summary.get("recent_pages", 0), summary.get("recent_harvest_rate", 0.0)
    if summary["ended"] or pages < _TREND_FROM or pages >= summary["pages"]:
        return f"{overall:.3f}"
    rising, falling = recent > overall * (1 + _TREND_STEP), recent < overall * (1 - _TREND_STEP)
    trend = "rising" if rising else "falling" if falling else "steady"
    return f"{overall:.3f} ({trend}: {recent:.3f} of the last {pages})"


def waits_for(summary: dict[str, Any]) -> str:
    """What the crawl is waiting for, or why it ended."""
    return str(summary["ended"] or summary.get("status", ""))
