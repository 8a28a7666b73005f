"""Measure the console: how long each view takes on a large crawl, and how much an open browser slows a crawl down.

    python bench/console.py views [--folder FOLDER] [--pages 100000] [--urls 1000000]
    python bench/console.py slowdown [--pages 1500] [--rounds 3]

`views` writes a crawl folder (bench/console_folder.py) unless one is given, and asks for every view of the navigation
and every page of the API three times. `slowdown` runs the same crawl alone and with a reader that does what a browser
does with a live view and a list of crawls open, by turns, and compares pages per second and CPU time of the crawl.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import HTTPCookieProcessor, build_opener

import lycosa
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server

MOST_S = 0.5
MOST_SLOWDOWN = 0.05
TIMES = 3
EVERY_URL = "[ab]en.*/p/|/calendar/"  # a pattern that no index and no literal part can narrow down
WEB = GeneratedWeb(pages=50_000, hosts=40, seed=7, text=Text(size_bytes=(8_000, 16_000)))
FETCH = {"delay_s": 0.0, "delay_factor": 0.0, "allow_private": True, "focus": 0.0, "concurrency": 16}


class Browser:
    """A console in a process of its own, and somebody who reads it."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "lycosa", "console", str(root), "--port", "0", "--no-browser"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout
        start = self._process.stdout.readline().split()[-1]
        self.address = start.partition("/enter")[0]
        self.open = build_opener(HTTPCookieProcessor()).open
        self.open(start).read()

    def cpu_s(self) -> float:
        """CPU time that the console has used so far: unlike time on the clock, it hardly depends on other processes."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path: str) -> bytes:
        with self.open(self.address + path) as answer:
            found: bytes = answer.read()
            return found

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


@contextmanager
def browsing(root: Path) -> Iterator[Browser]:
    browser = Browser(root)
    try:
        yield browser
    finally:
        browser.close()


# -- views ------------------------------------------------------------------------------------------------------------


def view_paths(browser: Browser, name: str) -> list[str]:
    """Every page that can be had with GET and needs nothing but the name of a crawl, and those that need a page."""
    from lycosa.console.app import all_routes

    paths = []
    for route in all_routes():
        path = getattr(route, "path", "")
        if "GET" in (getattr(route, "methods", None) or ()) and path not in ("/enter", "/crawls/{name}/events"):
            paths.append(path)
    known = [path.replace("{name}", quote(name)) for path in paths]
    return [path for path in known if "{" not in path] + [
        f"/crawls/{quote(name)}/frontier/count?pattern={quote(EVERY_URL)}"
    ]


def measure_views(folder: Path) -> bool:
    worst = 0.0
    with browsing(folder.parent) as browser:
        page = json.loads(browser.get(f"/api/crawls/{quote(folder.name)}/now"))["lately"]["pages"][0]["url"]
        print(f"{'first':>7} {'median':>7} {'CPU':>6}   kB  view")
        for path in view_paths(browser, folder.name):
            asked = path if "?" in path else f"{path}?url={quote(page, safe='')}&q=galaxy&host=site0.example"
            taken, size, used = [], 0, browser.cpu_s()
            for _ in range(TIMES):
                begin = time.perf_counter()
                try:
                    size = len(browser.get(asked))
                except OSError as error:
                    print(f"{'':15} {error}  {path}")
                    break
                taken.append(time.perf_counter() - begin)
            if taken:
                middle = statistics.median(taken)
                worst = max(worst, middle)
                used = (browser.cpu_s() - used) / len(taken)
                slow = "  TOO SLOW" * (middle > MOST_S)
                print(f"{taken[0]:7.3f} {middle:7.3f} {used:6.2f} {size / 1000:4.0f}  {path}{slow}", flush=True)
    print(f"slowest: {worst:.3f} s (at most {MOST_S} s)")
    return worst <= MOST_S


# -- slowdown ---------------------------------------------------------------------------------------------------------


class Serving:
    """The generated web, served from a process of its own, so that it takes no time from the crawl's."""

    def __enter__(self) -> int:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = Server(WEB, cache_bytes=500_000_000)
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result()
        return self._server.port

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.__aexit__(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


def crawl(folder: Path, port: int, pages: int) -> dict[str, float]:
    """Run one crawl in a process of its own; its summary."""
    topic = {"kind": "keywords", "words": ["astronomy", *WEB.words_of("astronomy")[:8]]}
    lycosa.CrawlFolder.new(folder, WEB.seeds(port, 10), topic, fetch=FETCH, limits={"pages": pages})
    command = [sys.executable, "-m", "lycosa", "crawl", str(folder), "--json"]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    summary: dict[str, float] = json.loads(found.stdout)
    return summary


@contextmanager
def reader(root: Path, name: str) -> Iterator[Browser]:
    """A live view that listens, and a list of crawls that is refreshed every three seconds."""
    over = threading.Event()

    def listen(browser: Browser) -> None:
        while not over.is_set():
            try:
                with browser.open(f"{browser.address}/crawls/{name}/events", timeout=5) as stream:
                    while not over.is_set() and stream.readline():
                        pass
            except OSError:
                over.wait(0.2)  # not there yet

    def refresh(browser: Browser) -> None:
        while not over.wait(3):
            browser.get("/crawls")

    with browsing(root) as browser:
        jobs: list[Callable[[Browser], None]] = [listen, refresh]
        threads = [threading.Thread(target=job, args=(browser,), daemon=True) for job in jobs]
        for thread in threads:
            thread.start()
        try:
            yield browser
        finally:
            over.set()


def measure_slowdown(pages: int, rounds: int) -> bool:
    speeds: dict[bool, list[float]] = {False: [], True: []}
    costs: dict[bool, list[float]] = {False: [], True: []}
    shares: list[float] = []  # of a core that the console takes meanwhile
    with tempfile.TemporaryDirectory() as place, Serving() as port:
        crawl(Path(place) / "warm", port, pages)  # the first one fills the cache of the server
        for number in range(2 * rounds):
            watched = number % 4 in (1, 2)  # alone, watched, watched, alone: a drift of the machine cancels out
            name = f"crawl{number}"
            if watched:
                with reader(Path(place), name) as browser:
                    before, begin = browser.cpu_s(), time.monotonic()
                    summary = crawl(Path(place) / name, port, pages)
                    shares.append((browser.cpu_s() - before) / (time.monotonic() - begin))
            else:
                summary = crawl(Path(place) / name, port, pages)
            speeds[watched].append(summary["pages"] / summary["seconds"])
            costs[watched].append(1000 * summary["cpu_s"] / summary["pages"])
            print(
                f"{'watched' if watched else 'alone':>8} {speeds[watched][-1]:7.1f} pages/s"
                f" {costs[watched][-1]:6.2f} ms CPU a page",
                flush=True,
            )
    speed, cost = (statistics.median(values[True]) / statistics.median(values[False]) for values in (speeds, costs))
    print(f"watched against alone: {speed:.3f} of the pages per second, {cost:.3f} of the CPU time of the crawl")
    print(f"the console takes {statistics.median(shares):.3f} of a core")
    return speed >= 1 - MOST_SLOWDOWN


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    views = parts.add_parser("views")
    views.add_argument("--folder", type=Path, default=None)
    views.add_argument("--pages", type=int, default=100_000)
    views.add_argument("--urls", type=int, default=1_000_000)
    slowdown = parts.add_parser("slowdown")
    slowdown.add_argument("--pages", type=int, default=1_500)
    slowdown.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.part == "slowdown":
        is_good = measure_slowdown(options.pages, options.rounds)
    elif options.folder:
        is_good = measure_views(options.folder)
    else:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "large"
            maker = Path(__file__).with_name("console_folder.py")
            size = ["--pages", str(options.pages), "--urls", str(options.urls)]
            subprocess.run([sys.executable, str(maker), str(folder), *size], check=True)
            is_good = measure_views(folder)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
