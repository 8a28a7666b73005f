"""Draw a report on a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lycosa.output.report import LabelReport, Report, SearchReport
from lycosa.output.terminal import printable
from lycosa.store.labels import Precision

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def chart(values: Sequence[float], height: int = 6) -> list[str]:
    """A small plot of values in 0..1, one column per value, as lines of text with a scale on the left."""
    top = max(values, default=0.0) or 1.0
    lines = []
    for row in range(height, 0, -1):
        cells = (min(8, max(0, round((value / top * height - row + 1) * 8))) for value in values)
        label = f"{top:5.2f}" if row == height else " 0.00" if row == 1 else "     "
        lines.append(f"{label} │{''.join(_EIGHTHS[cell] for cell in cells)}")
    return lines


def duration(seconds: float) -> str:
    """A time in the unit people would use."""
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{round(seconds, 1):g} s"


def draw(report: Report, console: Console, running: bool, now: float) -> None:
    console.print(Text(status(report, running), style="bold"), soft_wrap=True)
    facts = Table(box=None, show_header=False, pad_edge=False)
    for name, value in _facts(report):
        facts.add_row(Text(name, style="dim"), Text(value))
    if report.search:
        facts.add_row(Text("search", style="dim"), Text(printable(_search(report.search, now))))
    console.print(facts)
    if report.curve:
        console.print("\nharvest rate (relevant pages among those fetched so far)")
        for line in chart(report.curve):
            console.print(Text(line, style="cyan"), soft_wrap=True)
        console.print(Text(f"      └{'─' * len(report.curve)} {report.pages:,} pages", style="dim"))
    _draw_best(report, console)
    _draw_counts("errors", report.errors, console)
    _draw_counts("links not queued", report.refused, console)
    _draw_hosts(report, console, now)
    for heading, weights in report.learned.items():
        _draw_learned(heading, weights, console)


def status(report: Report, running: bool) -> str:
    """Why the crawl stopped, or what it is doing or waiting for."""
    if running:
        return f"running: {report.status}" if report.status else "running"
    if report.ended:
        return f"ended: {report.ended}"
    return "interrupted: the same crawl command continues it"


def _facts(report: Report) -> list[tuple[str, str]]:
    speed = report.pages / report.seconds if report.seconds else 0.0
    return [
        ("strategy", report.strategy),
        ("pages", f"{report.pages:,} in {report.seconds:,.0f} s ({speed:,.1f} pages/s), {report.bytes / 1e6:,.1f} MB"),
        ("relevant", f"{report.relevant:,} (harvest rate {report.harvest_rate:.3f})"),
        ("mean relevance", f"{report.mean_relevance:.3f}"),
        ("duplicates", f"{report.duplicates:,}"),
        ("known URLs", f"{report.known:,}, of which {report.waiting:,} are queued"),
        *([("recall", report.recall)] if report.recall else []),
        *([("drift", printable(report.drift))] if report.drift else []),
        *([("added seeds", _some(report.added_seeds))] if report.added_seeds else []),
        *([("labels", _labels(report.labels))] if report.labels else []),
        *([("excluded", _some(report.excluded))] if report.excluded else []),
    ]


def _labels(found: LabelReport) -> str:
    told = f"{found.on_topic + found.off_topic:,} ({found.on_topic:,} on topic)"
    return f"{told}; {estimate(found.precision)}" if found.precision else told


def estimate(found: Precision) -> str:
    pages = "page" if found.pages == 1 else "pages"
    interval = f"{found.low:.2f}-{found.high:.2f}"
    return f"estimated precision {found.share:.2f} ({interval}) from {found.pages:,} random {pages}"


def _some(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return printable(", ".join(names[:most])) + more


def _search(search: SearchReport, now: float) -> str:
    """Does the engine respond? A crawl continues without it, so nothing else would show it."""
    asked = f"{search.asked:,} queries on {datetime.fromtimestamp(search.day * 86_400, UTC):%Y-%m-%d}"
    if not search.failures:
        return asked
    rests = f", rests until {datetime.fromtimestamp(search.rests_until):%H:%M:%S}" if search.rests_until > now else ""
    times = f"the last {search.failures:,} failed" if search.failures > 1 else "the last one failed"
    return f"{asked}; {times} ({search.trouble[:60]}){rests}"


def _draw_best(report: Report, console: Console) -> None:
    if not report.best:
        return
    table = Table(title="best pages", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("relevance", justify="right")
    table.add_column("page", overflow="fold")
    for page in report.best:
        title = f"{printable(page.title[:70])}\n" if page.title else ""
        table.add_row(f"{page.relevance:.3f}", Text(f"{title}{page.url}"))  # a title comes from the page: no markup
    console.print(table)


def _draw_counts(title: str, counts: dict[str, int], console: Console) -> None:
    if not counts:
        return
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("kind")
    table.add_column("count", justify="right")
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        table.add_row(Text(name), f"{count:,}")
    console.print(table)


def _draw_hosts(report: Report, console: Console, now: float) -> None:
    if not report.hosts:
        return
    table = Table(title="hosts", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("host", "pages", "relevant", "state"):
        table.add_column(name, justify="left" if name in ("host", "state") else "right")
    for host in report.hosts:
        rests = f"rests until {datetime.fromtimestamp(host.due_at).strftime('%H:%M:%S')}" if host.due_at > now else ""
        table.add_row(Text(host.host), f"{host.pages:,}", f"{host.relevant:,}", Text(host.closed or rests))
    console.print(table)


def _draw_learned(heading: str, weights: dict[str, float], console: Console) -> None:
    table = Table(title=f"learned: {heading}", title_justify="left", box=box.SIMPLE_HEAD, show_header=False)
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for name, weight in weights.items():
        table.add_row(f"{weight:+.2f}", Text(printable(name)))
    console.print(table)
