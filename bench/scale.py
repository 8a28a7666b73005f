"""What do shards bring, and what do they cost? Speed on the bench web, quality on recorded webs with labels.

    python bench/scale.py all WEBS                    # speed and quality, and whether they are good enough
    python bench/scale.py speed                       # the bench web, 1 and 2 shards, loose and exact, in turn
    python bench/scale.py quality WEBS                # served over HTTP, `learned`, 1, 2 and 4 shards, exact
    python bench/scale.py read                        # commands that read ten shards, and twelve

Quality is the area under recall by pages, in the order of the requests; WEBS is a folder with the recorded webs.
Ratios are to one process in the same round, as the speed of a machine may change from round to round.
"""

import argparse
import json
import shutil
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
from lycosa.shards.layout import scatter
from lycosa.store.db import CrawlDb

FASTER, DEARER, AS_GOOD = 1.4, 1.15, 0.95  # bars: pages/s and CPU per page of two loose shards, area of exact ones
LYCOSA = [sys.executable, "-m", "lycosa"]  # of this very environment
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


class Cost(Struct, frozen=True):
    """What one crawl was like."""

    pages_per_s: float
    cpu_us: float  # per page, as the following two
    messages: float
    bytes: float
    rss_mb: float


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
        print(f"| {name} | {cells} | {least:.3f}{_bar(least >= AS_GOOD, f'at least {AS_GOOD}')} |", flush=True)


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
    """Each kind of crawl runs once more at the beginning: the web then has all of its pages at hand."""
    print("| round | shards | order | pages/s | CPU us/page | messages/page | bytes/page | peak MB |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    kinds = [(shards, order) for shards in counts for order in (("loose", "exact") if shards > 1 else ("",))]
    found: dict[tuple[int, str], list[Cost]] = {kind: [] for kind in kinds}
    site = web(10 * pages)
    with served(site, 4_000) as port, TemporaryDirectory() as work:
        for number in range(times + 1):
            for shards, order in kinds:
                cost = crawl(Path(work) / f"{shards} {order} {number}", site.seeds(port), pages, shards, order)
                if number:
                    found[shards, order].append(cost)
                    print(f"| {number} | {shards} | {order} | {_cells(cost)} |", flush=True)
    summarise(found, found[kinds[0]])


def summarise(found: dict[tuple[int, str], list[Cost]], alone: list[Cost]) -> None:
    """Means over all rounds, and the median of each round's ratio."""
    print("\n| shards | order | pages/s | ratio | CPU us/page | ratio | messages/page | bytes/page | peak MB |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for (shards, order), costs in found.items():
        faster, dearer = (
            statistics.median(getattr(cost, name) / getattr(one, name) for cost, one in zip(costs, alone, strict=True))
            for name in ("pages_per_s", "cpu_us")
        )
        marks = "", ""
        if (shards, order) == (2, "loose"):
            marks = _bar(faster >= FASTER, f"at least {FASTER}"), _bar(dearer <= DEARER, f"at most {DEARER}")
        means = Cost(*(statistics.mean(getattr(cost, name) for cost in costs) for name in Cost.__struct_fields__))
        speeds, cpu, *rest = _cells(means).split(" | ")
        cells = speeds, f"{faster:.2f}{marks[0]}", cpu, f"{dearer:.2f}{marks[1]}", *rest
        print(f"| {shards} | {order} | {' | '.join(cells)} |", flush=True)


def _bar(is_met: bool, bar: str) -> str:
    return f" ({bar}: {'met' if is_met else 'MISSED'})"


def _cells(cost: Cost) -> str:
    told = f"{cost.messages:.2f} | {cost.bytes:.0f}"
    return f"{cost.pages_per_s:.0f} | {cost.cpu_us:.0f} | {told} | {cost.rss_mb:.0f}"


def crawl(folder: Path, seeds: list[str], pages: int, shards: int, order: str) -> Cost:
    folder.mkdir(parents=True)
    text = FOLDER.format(
        seeds=json.dumps(seeds),
        words=json.dumps(WORDS),
        strategy="best-first",
        pages=pages,
        shards=shards,
        order=order or "exact",
        delay_s=0.0,
        proxy="",
    )
    (folder / "crawl.toml").write_text(text)
    cost = run([*LYCOSA, "crawl", str(folder), "--json"], folder / "out")
    summary = json.loads((folder / "summary.json").read_text())
    shutil.rmtree(folder)
    found, crawled_s = summary["pages"], summary["seconds"]
    told = summary.get("messages", 0) / found, summary.get("message_bytes", 0) / found
    return Cost(found / crawled_s, cost.cpu_s / found * 1e6, *told, summary["rss_mb"])


def read(urls: int, counts: list[int]) -> None:
    print("| shards | show s | why s | export s |")
    print("|--:|--:|--:|--:|")
    for shards in counts:
        with TemporaryDirectory() as work:
            folder = Path(work)
            text = 'seeds = ["http://h1.example/"]\ntopic = { kind = "keywords", words = ["star"] }\n'
            (folder / "crawl.toml").write_text(text)
            store(folder, urls)
            scatter(folder, shards)
            commands = ["show"], ["why", address(urls // 100)], ["export"]
            taken = [run([*LYCOSA, name, str(folder), *more], folder / "out").seconds for name, *more in commands]
        print(f"| {shards} | {' | '.join(f'{seconds:.1f}' for seconds in taken)} |", flush=True)


def address(number: int) -> str:
    return f"http://h{number % 5_000}.example/some/path/page{number}.html"


def store(folder: Path, urls: int) -> None:
    """A crawl that knows this many URLs, and has fetched a tenth of them."""
    known = ((n, address(n), n // 10, "an anchor", 3, n / urls, int(n <= urls // 10), 1, 0) for n in range(1, urls + 1))
    fetched = ((n, address(n), address(n), 1e9 + n, f"digest {n}") for n in range(1, urls // 10 + 1))
    columns = "n, url, final_url, fetched_at, digest, on_topic, relevance, seconds, depth, bytes, status"
    texts = "error, detail, duplicate_of, warc, label, title, language, why, content_type, source, anchor"
    with closing(CrawlDb(folder / "crawl.db").open()) as db:
        db.executemany("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", known)
        values = "?, ?, ?, ?, ?, 0, 0.5, 0.1, 1, 20000, 200" + ", ''" * 11
        db.executemany(f"INSERT INTO visits ({columns}, {texts}) VALUES ({values})", fetched)
        db.commit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    both = what.add_parser("all")
    fast = what.add_parser("speed")
    good = what.add_parser("quality")
    for one in (both, fast):
        one.add_argument("--pages", type=int, default=12_000)
    for one in (both, good):
        one.add_argument("webs", type=Path)
        one.add_argument("--only", nargs="*", default=[], choices=TASKS)
    good.add_argument("--order", default="exact")
    both.add_argument("--times", type=int, default=5)
    readers = what.add_parser("read")
    readers.add_argument("--urls", type=int, default=1_000_000)
    for one, counts in ((fast, [1, 2]), (good, [1, 2, 4]), (readers, [10, 12])):
        one.add_argument("--shards", type=int, nargs="+", default=counts)
    for one in (fast, good):
        one.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    if given.what == "all":
        speed(given.pages, [1, 2], given.times)
        print()
        quality(given.webs, [1, 2, 4], 1, given.only, "exact")
    elif given.what == "read":
        read(given.urls, given.shards)
    elif given.what == "speed":
        speed(given.pages, given.shards, given.times)
    else:
        quality(given.webs, given.shards, given.times, given.only, given.order)


if __name__ == "__main__":
    main()
