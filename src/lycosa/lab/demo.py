"""The demo: crawl a generated web for one topic with several strategies, and compare what they find.

python -m lycosa.lab.demo --out demo-out
"""

import asyncio
import shlex
import shutil
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import uvloop
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from lycosa import config
from lycosa.clock import WallClock
from lycosa.errors import LycosaError
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.serve import Server
from lycosa.lab.writing import writing
from lycosa.locking import lock
from lycosa.output import terminal
from lycosa.output.progress import Progress
from lycosa.output.show import chart
from lycosa.parse.memory import keep_memory
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.store.visited import page_addresses
from lycosa.types import BadInput

TOPIC = "astronomy"
STRATEGIES = ("breadth-first", "best-first", "learned")
WEB = GeneratedWeb(
    pages=6_000,
    hosts=30,
    seed=1,
    text=Text(size_bytes=(4_000, 12_000)),
    links=Links(count=(15, 40), locality=0.7),
    oddities=Oddities(
        dead_ends=0.05, duplicates=0.02, redirects=0.02, private=0.02, slow_s=1.0, failing=True, trap=True
    ),
)
_BARS = 20  # characters per curve in the table, so that it fits a narrow terminal
CRAWL = """\
seeds = {seeds}

[topic]
kind = "keywords"
words = {words}

[strategy]
kind = "{strategy}"

[fetch]
concurrency = 4
delay_s = 0.005            # we only disturb ourselves
delay_factor = 0.0
backoff_s = 0.5
allow_private = true       # the demo's web is on this machine

[limits]
pages = {pages}
"""


class Found(Struct, frozen=True):
    """What one strategy found."""

    truth: list[bool]  # for each page in fetch order: is it about the topic?
    judged: int  # how many of them the judge considered relevant


async def crawl(folder: Path, strategy: str, port: int, pages: int, console: Console) -> Found:
    """Crawl in a new folder with one strategy."""
    folder.mkdir(parents=True)
    # not only from hosts of the topic: the crawler has to find its way
    seeds = WEB.seeds(port, count=6)
    words = [TOPIC, *WEB.words_of(TOPIC)[:8]]
    text = CRAWL.format(seeds=seeds, words=words, strategy=strategy, pages=pages)
    (folder / config.NAME).write_text(text.replace("'", '"'), encoding="utf-8")
    settings, source = config.load(folder)
    with Progress(console, strategy) as progress, lock(folder):
        run = Run(folder, settings, source, WallClock())
        summary = await run.run([], progress)
    if run.stopped_by_user:
        raise KeyboardInterrupt
    if console.is_terminal:  # the live display disappears when its context ends
        console.print(progress.line(summary), soft_wrap=True, highlight=False)
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    addresses = page_addresses(db)
    db.close()
    return Found([WEB.topic_of(url) == TOPIC for url in addresses], int(summary["relevant"]))


def compare(found: dict[str, Found], console: Console) -> None:
    """The figures side by side."""
    table = Table(title=f"pages about {TOPIC}", title_justify="left")
    table.add_column("strategy", no_wrap=True)
    for name in ("pages", "judged\nrelevant", "truly\non topic", "true\nrate"):
        table.add_column(name, justify="right")
    table.add_column("true rate by\npages fetched", no_wrap=True)
    for strategy, one in found.items():
        truth, pages = one.truth, len(one.truth)
        step = max(1, pages // _BARS)
        curve = [sum(truth[: end + 1]) / (end + 1) for end in range(step - 1, pages, step)]
        rate = sum(truth) / pages if truth else 0.0
        bars = chart([*curve, 1.0], 1)[0][7:-1]
        table.add_row(strategy, str(pages), str(one.judged), str(sum(truth)), f"{rate:.3f}", bars)
    console.print(table)
    console.print(
        '"judged relevant" is what the crawler knows: its judge only has the given keywords. It is'
        ' the figure in the lines above and in "show". "truly on topic" is known from how this web was generated.',
        highlight=False,
    )


def draw(found: dict[str, Found], out: Path) -> None:
    """Plot the harvest curves."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput("the plot needs matplotlib: pip install 'lycosa[plots]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for strategy, one in found.items():
        counts = list(accumulate(map(int, one.truth)))
        pages = range(1, len(counts) + 1)
        left.plot(pages, [count / page for count, page in zip(counts, pages, strict=True)], label=strategy)
        right.plot(pages, counts, label=strategy)
    left.set(xlabel="pages fetched", ylabel="true harvest rate", ylim=(0, 1), title=f"share truly about {TOPIC}")
    right.set(xlabel="pages fetched", ylabel=f"pages truly about {TOPIC}", ylim=(0, None), title="found so far")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    with writing(out):
        figure.savefig(out, dpi=110)
    pyplot.close(figure)


def command() -> str:
    """How to call lycosa from here: by name if that finds this installation, otherwise by path."""
    script = Path(sys.executable).with_name("lycosa")
    if not script.exists():
        return f"{shlex.quote(sys.executable)} -m lycosa"
    on_path = shutil.which("lycosa")
    if on_path and Path(on_path).samefile(script):
        return "lycosa"
    return shlex.quote(str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script))


async def run_demo(out: Path, pages: int, console: Console) -> dict[str, Found]:
    """Serve the web, crawl it with each strategy, compare."""
    found: dict[str, Found] = {}
    async with Server(WEB, cache_bytes=100_000_000) as server:
        console.print(
            f"A web of {WEB.pages:,} pages on {WEB.hosts} hosts at port {server.port}: ten topics, dead ends, a trap,"
            f" a slow host, a failing host. Looking for {TOPIC}, {pages} pages for each strategy.",
            highlight=False,
        )
        for strategy in STRATEGIES:
            found[strategy] = await crawl(out / strategy, strategy, server.port, pages, console)
    compare(found, console)
    draw(found, out / "harvest.png")
    folder = shlex.quote(str(out / STRATEGIES[-1]))
    console.print(f"\nPlot: {out / 'harvest.png'}\nMore: {command()} show {folder}", highlight=False, soft_wrap=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m lycosa.lab.demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="folder for crawls and plot; replaced if it exists"
    )
    parser.add_argument("--pages", type=int, default=800, help="pages for each strategy")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    console = terminal.console()
    keep_memory()
    try:
        if (
            options.out.exists()
            and not (options.out / STRATEGIES[0] / config.NAME).exists()
            and any(options.out.iterdir())
        ):
            raise BadInput(f"{options.out}: not empty, and not written by the demo; choose another folder with --out")
        shutil.rmtree(options.out, ignore_errors=True)
        uvloop.run(run_demo(options.out, options.pages, console))
    except LycosaError as error:
        print(f"lycosa: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(130)
    console.print(f"{time.monotonic() - started:.0f} seconds", highlight=False)


if __name__ == "__main__":
    main()
