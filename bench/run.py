"""Lycosa with everything on against Scrapy on the same loopback web, and Lycosa's cost as the known URLs grow.

python bench/run.py [--pages 5000] [--skip scrapy growth stages] [--out FOLDER]
"""

import compileall
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from measure import HOSTS, WORDS, Cost, run, served, web
from msgspec.structs import replace

import lycosa as package

HERE = Path(__file__).parent
LYCOSA = [sys.executable, "-m", "lycosa"]  # of this very environment
POINTS = (10_000, 100_000, 1_000_000)  # known URLs
WINDOW = 2.0  # the cost at a point is that of the pages between half of it and twice as many known URLs
LINKS_PER_PAGE = 70  # new ones, nearly; only to know how many pages reach a number of known URLs
FOLDER = """\
seeds = "seeds.txt"

[topic]
kind = "keywords"
words = {words}

[strategy]
kind = "best-first"

[fetch]
concurrency = 64
delay_s = 0.0
delay_factor = 0.0
allow_private = true

[limits]
pages = {pages}
"""


def write_folder(folder: Path, seeds: list[str], pages: int) -> None:
    folder.mkdir(parents=True)
    (folder / "seeds.txt").write_text("\n".join(seeds) + "\n")
    (folder / "crawl.toml").write_text(FOLDER.format(words=json.dumps(WORDS), pages=pages))


def lycosa(work: Path, seeds: list[str], pages: int) -> Cost:
    """Robots.txt, parse, judge, best-first, durable frontier, WARC: as `lycosa crawl` does it."""
    folder = work / "lycosa"
    write_folder(folder, seeds, pages)  # makes `work` too
    out = work / "lycosa.out"
    cost = run([*LYCOSA, "crawl", str(folder), "--pages", str(pages), "--json"], out)
    summary = json.loads((folder / "summary.json").read_text())
    if summary["pages"] < pages:
        raise SystemExit(f"bench: Lycosa fetched {summary['pages']} of {pages} pages: {summary}")
    return replace(cost, pages=summary["pages"])


def scrapy(work: Path, seeds: list[str], pages: int, per_host: int) -> Cost:
    """Fetch, parse and follow only."""
    (work / "seeds.txt").write_text("\n".join(seeds))
    result = work / "scrapy.json"
    options = {"--pages": pages, "--per-host": per_host, "--seeds": work / "seeds.txt", "--out": result}
    command = [sys.executable, str(HERE / "scrapy_peer.py")]
    cost = run(command + [str(part) for option in options.items() for part in option], work / "scrapy.out")
    found = json.loads(result.read_text())
    if found["pages"] < pages:
        raise SystemExit(f"bench: Scrapy fetched {found['pages']} of {pages} pages: {found['stats']}")
    return replace(cost, pages=found["pages"])


def growth(work: Path, most: int) -> list[tuple[int, int, float, float]]:
    """Rows of pages, known URLs, CPU seconds and resident MB, on a web where nearly every link is new."""
    site = web(20_000_000, hubs=0.0)
    folder, rows = work / "growth", work / "rows.json"
    with served(site, cache_mb=0) as port:
        write_folder(folder, site.seeds(port, HOSTS), int(most * WINDOW**0.2 / LINKS_PER_PAGE))
        run([sys.executable, str(HERE / "growth.py"), str(folder), str(rows)], work / "growth.out")
    return [tuple(row) for row in json.loads(rows.read_text())]


def at(rows: list[tuple[int, int, float, float]], point: int) -> dict[str, float]:
    """CPU of a page around a number of known URLs, and the memory there."""
    near = [row for row in rows if point / WINDOW <= row[1] <= point * WINDOW]
    if len(near) < 2 or near[-1][1] < point:
        raise SystemExit(f"bench: the crawl did not pass {point:,} known URLs")
    (first_pages, _, first_cpu, _), (last_pages, _, last_cpu, _) = near[0], near[-1]
    memory = next(row[3] for row in near if row[1] >= point)
    return {
        "known": point,
        "pages": last_pages - first_pages,
        "us_per_page": (last_cpu - first_cpu) / (last_pages - first_pages) * 1e6,
        "memory_mb": memory,
    }


def compare(work: Path, pages: int, factor: float, skipped: list[str]) -> dict[str, Cost]:
    """Both crawlers on the same web; Scrapy also with as many requests at a host as it likes, on fewer pages."""
    site = web(int(pages * factor))
    costs: dict[str, Cost] = {}
    with served(site, cache_mb=500) as port:
        seeds = site.seeds(port, HOSTS)
        lycosa(work / "warm-up", seeds, pages)  # the server, on the same cores, is to answer from its cache
        costs["Lycosa"] = lycosa(work, seeds, pages)
        print_cost("Lycosa", costs["Lycosa"])
        if "scrapy" not in skipped:
            for name, per_host, count in (("Scrapy", 1, pages), ("Scrapy, 8 at a host", 8, max(500, pages // 5))):
                costs[name] = scrapy(work, seeds, count, per_host)
                print_cost(name, costs[name])
    return costs


def print_cost(name: str, cost: Cost) -> None:
    print(
        f"{name:20} {cost.pages:6,} pages  {cost.pages_per_s:6.0f} pages/s  {cost.us_per_page:7,.0f} us CPU/page"
        f"  {cost.peak_mb:6,.0f} MB peak",
        flush=True,
    )


def print_stages(whole_us: float) -> dict[str, float]:
    from stages import stages

    used = stages()
    used["fetch and rest"] = whole_us - sum(used.values())
    print("\nLycosa by stage, us CPU/page")
    for name, used_us in used.items():
        print(f"  {name:15} {used_us:7,.0f}")
    return used


def print_growth(work: Path) -> list[dict[str, float]]:
    print("\nLycosa as the known URLs grow")
    rows = growth(work, POINTS[-1])
    found = [at(rows, point) for point in POINTS]
    for place in found:
        ratio = place["us_per_page"] / found[0]["us_per_page"]
        print(
            f"  {place['known']:9,.0f} known  {place['us_per_page']:7,.0f} us CPU/page ({ratio:.2f} times)"
            f"  {place['memory_mb']:5,.0f} MB"
        )
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--factor", type=float, default=10, help="the web has so many times the pages fetched")
    parser.add_argument("--skip", nargs="*", default=[], choices=["scrapy", "stages", "growth"])
    parser.add_argument("--out", type=Path, help="a folder; the figures are written to result.json there")
    given = parser.parse_args()
    compileall.compile_dir(Path(package.__file__).parent, quiet=1)  # as pip does with packages that are not editable
    with TemporaryDirectory() as name:
        work = Path(name)
        costs = compare(work, given.pages, given.factor, given.skip)
        result: dict[str, Any] = {"costs": costs}
        peers = [cost.us_per_page for name, cost in costs.items() if name != "Lycosa"]
        if peers:
            result["ratio"] = costs["Scrapy"].us_per_page / costs["Lycosa"].us_per_page
            result["ratio_at_its_best"] = min(peers) / costs["Lycosa"].us_per_page
            print(
                f"\nScrapy needs {result['ratio']:.1f} times the CPU of Lycosa for a page,"
                f" {result['ratio_at_its_best']:.1f} times at its best"
            )
        if "stages" not in given.skip:
            result["stages"] = print_stages(costs["Lycosa"].us_per_page)
        if "growth" not in given.skip:
            result["growth"] = print_growth(work)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "result.json").write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=2))


if __name__ == "__main__":
    main()
