"""One crawl of 150 hosts with the settings of a new folder, and minutes without a network in the middle of it.

Only the limit on depth is off: a page counts as deep as the path on which it was found, which depends on the order.

python bench/soak/outage.py                          # 1,321 pages, four minutes during which connections are refused
python bench/soak/outage.py --how "dns hang" --after 0 --seconds 60

Nobody does anything about it: the same run has to bring back every page. Prints what it brought back, and ends with
exit code 1 if anything differs from what the web has.
"""

import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

from check import compare, impolite, read
from processes import Disk, WebServer, free_port
from stage import Stage
from web import Web

PAGES, HOSTS = 1_321, 150
DOWN_AFTER = 0.4
USUAL_PAUSE_S = 5.0  # before the network is tried again, as in lycosa.fetch.outage
MOST_S = 1_800.0
FOLDER = """\
seeds = "seeds.txt"

[topic]
kind = "keywords"
words = ["spider", "wolf", "web"]

[scope]
max_depth = 0

[fetch]
user_agent = "Soak/1"
allow_private = true

[run]
shards = {shards}

[limits]
pages = 0
"""


def web_of(pages: int, port: int) -> Web:
    """A plain web with exactly this many pages that can be found."""
    for about in range(max(1, 5 * pages // 4 - 20), 2 * pages):
        web = Web(1, port, about, plain=True, hosts=HOSTS)
        if len(web.expected()[1]) == pages:
            return web
    raise SystemExit(f"soak: no web has {pages} pages")


def crawl(web: Web, how: str, after: float, seconds: float, shards: int, work: Path) -> list[str]:
    """What differs afterwards."""
    folder = work / "crawl"
    folder.mkdir()
    (folder / "seeds.txt").write_text("\n".join(web.seeds) + "\n")
    (folder / "crawl.toml").write_text(FOLDER.format(shards=shards))
    began = time.monotonic()
    with WebServer(web) as server:
        stage = Stage(server, folder, work / "notes", Disk(work / "disk"), USUAL_PAUSE_S, listens=shards == 1)
        switch = stage.tell if how in ("dns hang", "dns fail", "net unreachable") else server.tell
        try:
            stage.start()
            stage.until(lambda: stage.log.look() >= after * len(web.spots), MOST_S)  # at once: Python still starts
            print(f"{stage.log.requests} requests after {time.monotonic() - began:.0f} s; down: {how}", flush=True)
            switch(how)
            stage.until(lambda: False, seconds)
            during = stage.log.look()
            switch(f"{how.split()[0]} up" if switch == stage.tell else "up")
            print(f"up again after {seconds:g} s; {during} requests so far", flush=True)
            stage.until(lambda: False, MOST_S)
        finally:
            stage.close()
        outcome = read(folder)
        print(
            f"{len(outcome.pages)} of {len(web.expected()[1])} pages, {stage.log.requests} requests, {stage.runs} run,"
            f" {time.monotonic() - began:.0f} s"
        )
        problems = [] if stage.is_over() else ["the crawl is not over"]
        manners = impolite(web, stage.log.path, stage.forgiven)
        return [*problems, *stage.problems, *compare(web, outcome, None, went_wild=False), *manners]


def main() -> int:
    options = ArgumentParser(prog="outage", description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("--seconds", type=float, default=240.0, help="how long the network is down")
    options.add_argument(
        "--after", type=float, default=DOWN_AFTER, help="this share of the requests; 0: from the start"
    )
    ways = ["refuse", "hang", "net unreachable", "dns hang", "dns fail"]
    options.add_argument("--how", choices=ways, default="refuse", help="in which way")
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--shards", type=int, default=1, help="processes that share the crawl")
    kept = "where a crawl that differs is kept"
    options.add_argument("--out", type=Path, default=Path("bench-out/outage"), help=kept)
    given = options.parse_args()
    if given.shards > 1 and given.how not in ("refuse", "hang"):
        options.error(f"--how {given.how}: only one process can be told that")
    work = Path(tempfile.mkdtemp(prefix="lycosa-outage-"))
    try:
        differences = crawl(web_of(given.pages, free_port()), given.how, given.after, given.seconds, given.shards, work)
        for line in differences:
            print(f"differs: {line}")
        if differences:
            shutil.copytree(work, given.out, ignore=shutil.ignore_patterns("*.sock"), dirs_exist_ok=True)
            print(f"kept in {given.out}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
