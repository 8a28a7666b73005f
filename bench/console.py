"""Measure the console: how long each view takes on a large crawl, and how much an open browser slows a crawl down.

    python bench/console.py views [--folder FOLDER] [--pages 100000] [--urls 1000000]
    python bench/console.py slowdown [--seconds 10] [--rounds 8]

`views` writes a crawl folder (bench/console_folder.py) unless one is given, and asks for every view of the navigation
and every page of the API three times. `slowdown` runs one crawl with a console beside it, and by turns a reader that
does what a browser does with a live view and a list of crawls open; it compares pages per second and CPU time per page
of the crawl with and without the reader.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from urllib.request import HTTPCookieProcessor, build_opener

from measure import TOPIC, WORDS, served, web

import lycosa
from lycosa import remote

MOST_S = 0.5
MOST_SLOWDOWN = 0.05
SETTLE_S = 2.0  # after readers come or go: the crawl writes its summary about once a second
WARM_UP = 200  # pages before the first measurement
TIMES = 3
EVERY_URL = "[ab]en.*/p/|/calendar/"  # a pattern that no index and no literal part can narrow down
WEB = web(50_000)
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


@contextmanager
def crawling(folder: Path, port: int) -> Iterator[None]:
    """A crawl in a process of its own, until it is stopped."""
    topic = {"kind": "keywords", "words": [TOPIC, *WORDS]}
    lycosa.CrawlFolder.new(folder, WEB.seeds(port, 10), topic, fetch=FETCH, limits={"pages": WEB.pages})
    command = [sys.executable, "-m", "lycosa", "crawl", str(folder), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while remote.read_summary(folder).get("pages", 0) < WARM_UP:
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def reading(browser: Browser, name: str) -> Iterator[None]:
    """A live view that listens, and a list of crawls that is refreshed every three seconds."""
    over = threading.Event()

    def listen() -> None:
        with browser.open(f"{browser.address}/crawls/{name}/events", timeout=60) as stream:
            while not over.is_set() and stream.readline():
                pass

    def refresh() -> None:
        while not over.wait(3):
            browser.get("/crawls")

    threads = [threading.Thread(target=job) for job in (listen, refresh)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


class Window(NamedTuple):
    """Some seconds of the crawl."""

    pages_per_s: float
    ms_per_page: float  # CPU time of the crawl's process
    share: float  # of a core that the console took


def measure(folder: Path, browser: Browser, seconds: float) -> Window:
    """From one summary of the crawl to a later one: each is written by the crawl itself, with pages, time and CPU."""
    before, console, began = remote.read_summary(folder), browser.cpu_s(), time.monotonic()
    time.sleep(seconds)
    after, share = remote.read_summary(folder), (browser.cpu_s() - console) / (time.monotonic() - began)
    pages, passed, used = (after[key] - before[key] for key in ("pages", "seconds", "cpu_s"))
    if not pages or not passed:
        raise SystemExit("bench: the crawl has fetched the whole web; take fewer rounds")
    return Window(pages / passed, 1000 * used / pages, share)


def measure_slowdown(seconds: float, rounds: int) -> bool:
    """One crawl, watched and alone by turns: two crawls of the same kind differ by more than what is measured."""
    found: dict[bool, list[Window]] = {False: [], True: []}
    with (
        tempfile.TemporaryDirectory() as place,
        served(WEB, cache_mb=0) as port,
        crawling(Path(place) / "crawl", port),
        browsing(Path(place)) as browser,
    ):
        for number in range(2 * rounds):
            watched = number % 4 in (1, 2)  # alone, watched, watched, alone: a trend of the crawl cancels out
            with reading(browser, "crawl") if watched else nullcontext():
                time.sleep(SETTLE_S)
                one = measure(Path(place) / "crawl", browser, seconds)
            found[watched].append(one)
            said = "watched" if watched else "alone"
            print(f"{said:>8} {one.pages_per_s:7.1f} pages/s {one.ms_per_page:6.2f} ms CPU a page", flush=True)
    pairs = [*zip(found[True], found[False], strict=True)]
    speeds = sorted(watched.pages_per_s / alone.pages_per_s for watched, alone in pairs)
    costs = sorted(watched.ms_per_page / alone.ms_per_page for watched, alone in pairs)
    print(f"watched against alone, median of {rounds} pairs (and range):")
    print(f"  {statistics.median(speeds):.3f} ({speeds[0]:.3f} to {speeds[-1]:.3f}) of the pages per second")
    print(f"  {statistics.median(costs):.3f} ({costs[0]:.3f} to {costs[-1]:.3f}) of the crawl's CPU time per page")
    print(f"the console takes {statistics.median(one.share for one in found[True]):.3f} of a core")
    return statistics.median(speeds) >= 1 - MOST_SLOWDOWN


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    views = parts.add_parser("views")
    views.add_argument("--folder", type=Path, default=None)
    views.add_argument("--pages", type=int, default=100_000)
    views.add_argument("--urls", type=int, default=1_000_000)
    slowdown = parts.add_parser("slowdown")
    slowdown.add_argument("--seconds", type=float, default=10.0)
    slowdown.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    if options.part == "slowdown":
        is_good = measure_slowdown(options.seconds, options.rounds)
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
