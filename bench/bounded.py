"""Is a crawl bounded? Best-first and `learned` side by side as the known URLs grow, then restart, Ctrl-C, why and show.

python bench/bounded.py [--known 1000000] [--only learned] [--links 50-100] [--bytes 20000-60000] [--out FILE]

The cost of a page is taken while one crawl grows, all other figures from the folder that it leaves.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import uvloop
from growth import EVERY_S, resident_mb
from measure import HOSTS, WORDS, run, served
from run import LYCOSA, POINTS, at

from lycosa import config
from lycosa.__main__ import leave
from lycosa.clock import WallClock
from lycosa.lab.generated import GeneratedWeb, Links, Text
from lycosa.process import prepare_process
from lycosa.run import Run
from lycosa.types import Link, Reply

STRATEGIES = ("best-first", "learned")
SPARE = 1.15  # a crawl goes on a little after the last point: the window around it has two sides
FOLDER = """\
seeds = "seeds.txt"
[topic]
kind = "keywords"
words = {words}
[strategy]
kind = "{kind}"
[fetch]
concurrency = 64
delay_s = 0.0
delay_factor = 0.0
allow_private = true
[limits]
pages = 0
"""


class First:
    """A fetcher that says when it is asked for the first time: then a crawl is at work again."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.asked = False

    async def fetch(self, link: Link) -> Reply:
        if not self.asked:
            self.asked = True
            print(json.dumps({"cpu_s": time.process_time(), "memory_mb": resident_mb()}), flush=True)
        return await self.inner.fetch(link)  # type: ignore[no-any-return]


async def crawl(folder: Path, most: int) -> list[tuple[int, int, float, float]]:
    """Crawl until so many URLs are known, or until Ctrl-C; rows of pages, known URLs, CPU seconds, resident MB."""
    run_ = Run(folder, *config.load(folder), WallClock(), fetcher=lambda parts: First(parts.fetcher))
    rows: list[tuple[int, int, float, float]] = []

    async def sample() -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            known = run_.parts.frontier.status().known
            rows.append((run_.parts.totals.pages, known, time.process_time(), resident_mb()))
            if most and known >= most:
                run_.parts.frontier.stop("enough")

    sampling = asyncio.ensure_future(sample())
    try:
        await run_.run([], lambda summary: None)
    finally:
        sampling.cancel()
    return rows


def restart(folder: Path) -> dict[str, float]:
    """From the command to the first fetch, and from Ctrl-C to the end of the process."""
    command = [sys.executable, __file__, "--child", str(folder)]
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    first = json.loads(child.stdout.readline())
    restarted_s = time.monotonic() - started
    time.sleep(2.0)  # it crawls
    stopped = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait()
    return {
        "restart_s": restarted_s,
        "restart_cpu_s": first["cpu_s"],
        "restart_mb": first["memory_mb"],
        "exit_s": time.monotonic() - stopped,
    }


def commands(folder: Path, work: Path) -> dict[str, float]:
    """Seconds of CPU that each takes; the start of Python and the imports are in it."""
    with sqlite3.connect(folder / "crawl.db") as db:
        seed = db.execute("SELECT url FROM visits WHERE n = 1").fetchone()[0]
        fetched = db.execute("SELECT url FROM visits ORDER BY n DESC LIMIT 1").fetchone()[0]
        waits = db.execute("SELECT url FROM urls WHERE state = 0 ORDER BY id DESC LIMIT 1").fetchone()[0]
    given = {"show": ["show", str(folder)], "why_seed": ["why", str(folder), seed]}
    given |= {"why_fetched": ["why", str(folder), fetched], "why_waiting": ["why", str(folder), waits]}
    return {f"{name}_s": run([*LYCOSA, *command], work / "out").cpu_s for name, command in given.items()}


def measure(kind: str, site: GeneratedWeb, most: int, work: Path) -> dict[str, Any]:
    folder = work / kind
    folder.mkdir()
    with served(site, cache_mb=0) as port:
        (folder / "seeds.txt").write_text("\n".join(site.seeds(port, HOSTS)) + "\n")
        (folder / "crawl.toml").write_text(FOLDER.format(words=json.dumps(WORDS), kind=kind))
        rows_file = work / "rows.json"
        run([sys.executable, __file__, "--child", str(folder), str(int(most * SPARE)), str(rows_file)], work / "out")
        rows = [tuple(row) for row in json.loads(rows_file.read_text())]
        found: dict[str, Any] = {"points": [at(rows, point) for point in POINTS if point <= most]}
        files = [folder / f"crawl.db{end}" for end in ("", "-wal")]
        found["database_mb"] = sum(file.stat().st_size for file in files if file.exists()) / 1e6
        found["pages"], found["known"], _, found["memory_mb"] = rows[-1]
        found |= restart(folder)
    return found | commands(folder, work)


BARS = {  # at the last point: the most that is allowed
    "memory_mb": {"best-first": 600, "learned": 800},
    "restart_s": dict.fromkeys(STRATEGIES, 15),
    "exit_s": dict.fromkeys(STRATEGIES, 3),
    **dict.fromkeys(("show_s", "why_seed_s", "why_fetched_s", "why_waiting_s"), dict.fromkeys(STRATEGIES, 2)),
}


def report(results: dict[str, dict[str, Any]]) -> None:
    """A column for each strategy, a row for each figure."""
    rows: list[tuple[str, list[str]]] = [("pages", [f"{found['pages']:,}" for found in results.values()])]
    points = next([place["known"] for place in found["points"]] for found in results.values())
    for at_, known in enumerate(points):
        places = [found["points"][at_] for found in results.values()]
        cpu = [place["us_per_page"] for place in places]
        first = [found["points"][0]["us_per_page"] for found in results.values()]
        rows.append((f"{known:,} known: us CPU/page", [f"{value:,.0f}" for value in cpu]))
        rows.append(("  over its first", [f"{now / then:.2f}" for now, then in zip(cpu, first, strict=True)]))
        if len(results) > 1:
            rows.append((f"  over {next(iter(results))}", [f"{value / cpu[0]:.2f}" for value in cpu]))
        rows.append(("  MB", [f"{place['memory_mb']:,.0f}" for place in places]))
    for name in next(iter(results.values())):
        if isinstance(next(iter(results.values()))[name], float) or name in BARS:
            cells = [_beside_bar(found[name], BARS.get(name, {}).get(kind)) for kind, found in results.items()]
            rows.append((name, cells))
    print("".join(f"{kind:>26}" for kind in ["", *results]))
    for title, cells in rows:
        print(f"{title:26}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


def _beside_bar(value: float, bar: float | None) -> str:
    return f"{value:,.1f}" + (f" (bar {bar})" if bar else "")


def child(folder: Path, most: int, rows_file: str) -> None:
    prepare_process()
    rows = uvloop.run(crawl(folder, most))
    if rows_file:
        Path(rows_file).write_text(json.dumps(rows))
    leave(0)  # as the command line does


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--known", type=int, default=POINTS[-1])
    parser.add_argument("--only", choices=STRATEGIES)
    parser.add_argument("--links", default="50-100", help="on a page, nearly all of them new")
    parser.add_argument("--bytes", default="20000-60000", help="of a page")
    parser.add_argument("--out", type=Path, help="a file for the figures")
    given = parser.parse_args()
    least, most = map(int, given.links.split("-"))
    smallest, largest = map(int, given.bytes.split("-"))
    links, text = Links(count=(least, most), hubs=0.0), Text(size_bytes=(smallest, largest))
    site = GeneratedWeb(20_000_000, HOSTS, ip_hosts=True, text=text, links=links)
    results: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as name:
        for kind in [given.only] if given.only else STRATEGIES:
            results[kind] = measure(kind, site, given.known, Path(name))
            report(results)
            if given.out:
                given.out.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), int((sys.argv[3:4] or ["0"])[0]), "".join(sys.argv[4:5]))
    else:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        main()
