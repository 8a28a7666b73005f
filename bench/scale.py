"""What do shards bring, and what do they cost? Speed on the bench web, quality on recorded webs with labels.

    python bench/scale.py speed                       # the bench web, 1 and 2 shards, loose and exact
    python bench/scale.py quality WEBS                # served over HTTP, `learned`, 1, 2 and 4 shards, exact

Quality is the area under recall by pages, in the order of the requests; WEBS is a folder with the recorded webs.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from field import WORDS as TOPICS
from measure import WORDS, run, served, web
from msgspec import Struct

from lycosa.lab.metrics import area_under_recall
from lycosa.lab.webs import labels_of, open_web
from lycosa.store.db import CrawlDb

LYCOSA = [sys.executable, "-c", "from lycosa.cli import main; main()"]  # the command line of this very environment
FOLDER = """\
seeds = {seeds}
topic = {{ kind = "keywords", words = {words} }}
strategy = {{ kind = "{strategy}" }}
limits = {{ pages = {pages} }}
[run]
shards = {shards}
order = "{order}"
[fetch]
delay_s = {delay_s}
delay_factor = 0.0
allow_private = true
proxy = "{proxy}"
"""


class Task(Struct, frozen=True):
    """A recorded web, where to start, and which of its pages are to be found."""

    web: str
    seed: str
    words: list[str]
    targets: set[str]
    pages: int


def labelled(webs: Path, web: str, seed: str, topic: str, label: str) -> Task:
    found = open_web(f"{web}.warc.gz", webs)
    labels = labels_of(found, webs / f"{web}.labels.tsv")
    targets = {page for page, known in labels.items() if known == label}
    return Task(web, seed, TOPICS[topic], targets, 1_500 if topic == "health" else 400)


def dentistry(webs: Path) -> Task:
    pages = open_web("uic.warc.gz", webs).pages()
    targets = {page for page in pages if urlsplit(page).hostname == "dentistry.uic.edu"}
    return Task("uic", "http://cs.uic.edu/", TOPICS["dentistry"], targets, 600)


TASKS: dict[str, Callable[[Path], Task]] = {
    "uic dentistry": dentistry,
    "uic health": lambda webs: labelled(webs, "uic", "http://cs.uic.edu/", "health", "1"),
    **{
        f"texas {kind}": lambda webs, kind=kind: labelled(  # type: ignore[misc]
            webs, "webkb-texas", "http://www.cs.utexas.edu/", kind, kind
        )
        for kind in ("course", "student", "faculty")
    },
}


@contextmanager
def proxy(web: Path) -> Iterator[str]:
    """A recorded web, served by a process of its own; yields its address."""
    process = subprocess.Popen([*LYCOSA, "lab", "serve", str(web)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        line = next(line for line in process.stdout if "http://" in line)
        yield "http://" + line.split("http://", 1)[1].split()[0].rstrip(":")
    finally:
        process.terminate()
        process.wait()


def quality(webs: Path, counts: list[int], times: int, only: list[str], order: str) -> None:
    print(f"| task | {' | '.join(f'{shards} shards' for shards in counts)} | least ratio |")
    print(f"|---|{'--:|' * (len(counts) + 1)}")
    for name in only or TASKS:
        task = TASKS[name](webs)
        areas: dict[int, list[float]] = {}
        with proxy(webs / f"{task.web}.warc.gz") as address:
            for _ in range(times):
                for shards in counts:
                    areas.setdefault(shards, []).append(area(task, address, shards, order))
        means = {shards: statistics.mean(found) for shards, found in areas.items()}
        least = min(means[shards] / means[counts[0]] for shards in counts)
        cells = " | ".join(f"{means[shards]:.3f}" for shards in counts)
        print(f"| {name} | {cells} | {least:.3f} |", flush=True)


def area(task: Task, address: str, shards: int, order: str) -> float:
    with TemporaryDirectory() as work:
        folder = Path(work)
        text = FOLDER.format(
            seeds=json.dumps([task.seed]),
            words=json.dumps(task.words),
            strategy="learned",
            pages=task.pages,
            shards=shards,
            order=order,
            delay_s=0.0,
            proxy=address,
        )
        (folder / "crawl.toml").write_text(text)
        subprocess.run([*LYCOSA, "crawl", str(folder)], check=True, capture_output=True, timeout=600)
        with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
            rows = db.execute("SELECT final_url FROM visits WHERE error = '' ORDER BY fetched_at")
            fetched = [url for (url,) in rows]
    return area_under_recall(fetched, task.targets, task.pages)


def speed(pages: int, counts: list[int], times: int) -> None:
    print("| shards | order | pages/s | CPU us/page | messages/page | bytes/page | peak MB |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    site = web(10 * pages)
    with served(site, 2_000) as port, TemporaryDirectory() as work:
        seeds = site.seeds(port)
        crawl(Path(work) / "warm", seeds, pages, 1, "loose")
        for number in range(times):
            for shards in counts:
                for order in ("loose", "exact") if shards > 1 else ("exact",):
                    print(crawl(Path(work) / f"{shards} {order} {number}", seeds, pages, shards, order), flush=True)


def crawl(folder: Path, seeds: list[str], pages: int, shards: int, order: str) -> str:
    folder.mkdir(parents=True)
    text = FOLDER.format(
        seeds=json.dumps(seeds),
        words=json.dumps(WORDS),
        strategy="best-first",
        pages=pages,
        shards=shards,
        order=order,
        delay_s=0.0,
        proxy="",
    )
    (folder / "crawl.toml").write_text(text)
    cost = run([*LYCOSA, "crawl", str(folder), "--json"], folder / "out")
    summary = json.loads((folder / "summary.json").read_text())
    found, crawled_s = summary["pages"], summary["seconds"]
    told = summary.get("messages", 0) / found, summary.get("message_bytes", 0) / found
    cells = f"{found / crawled_s:.0f} | {cost.cpu_s / found * 1e6:.0f} | {told[0]:.2f} | {told[1]:.0f}"
    return f"| {shards} | {order} | {cells} | {summary['rss_mb']:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    fast = what.add_parser("speed")
    fast.add_argument("--pages", type=int, default=4_000)
    good = what.add_parser("quality")
    good.add_argument("webs", type=Path)
    good.add_argument("--only", nargs="*", default=[], choices=TASKS)
    good.add_argument("--order", default="exact")
    for one, counts in ((fast, [1, 2]), (good, [1, 2, 4])):
        one.add_argument("--shards", type=int, nargs="+", default=counts)
        one.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.pages, given.shards, given.times)
    else:
        quality(given.webs, given.shards, given.times, given.only, given.order)


if __name__ == "__main__":
    main()
