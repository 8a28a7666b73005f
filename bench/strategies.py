"""What a link costs each strategy with a million known URLs: scoring, learning, the frontier and its database, all in.

python bench/strategies.py [--known 1000000] [--pages 300] [--only NAME] [--times 1]
"""

import asyncio
import gc
import logging
import os
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy is first imported: CPU time of one core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import msgspec
from measure import TOPIC, WORDS, web
from msgspec.structs import replace

from lycosa.assembly import make_frontier
from lycosa.clock import WallClock
from lycosa.config import Config, Fetch, Scope
from lycosa.crawl import Crawl
from lycosa.effects import Jobs
from lycosa.frontier import scope
from lycosa.frontier.durable import DurableFrontier
from lycosa.judge.examples import Examples
from lycosa.judge.keywords import Keywords
from lycosa.judge.taxonomy import Taxonomy
from lycosa.judge.tids import Tids
from lycosa.parse import HtmlParser, content_digest
from lycosa.store.db import CrawlDb
from lycosa.strategy import STRATEGIES, rule_base
from lycosa.strategy.link_training import Linked, sample, train
from lycosa.strategy.link_words import all_words
from lycosa.types import Acts, Link, Page, Reply, Visit
from lycosa.urls import hostname

TAUGHT = 240  # pages that the trained topics learn from
OF_ITS_OWN = {"rules": "taxonomy", "tids": "tids"}  # strategies that need a certain kind of topic
GLANCING = ("link-context", "otie", "learned")  # strategies that ask the judge about the words around each link
FOCUSED = ("hard-focus", "ontology")  # strategies that drop the links of pages that are off topic: here none is
YARDSTICK = "breadth-first"  # what frontier and database take alone, to be seen beside every other
WITH_RULES = "with rules and words of links"
COMMIT_PAGES = 50
USERS = 20_000
PATHS = ("", "papers/", "teaching/", "research/", "~{}/", "people/{}/", "~{}/papers/", "~{}/pubs/", "cs/staff/{}/")

Labelled = list[tuple[str, Visit]]  # subject and page


class Cost(NamedTuple):
    """Microseconds of CPU for each link: the median of parts of fifty pages, and the mean of all."""

    median: float
    mean: float


class Case(NamedTuple):
    """One line of the table."""

    kind: str
    topic: str
    change: Callable[[list[Visit]], list[Visit]] = list
    note: str = ""


def cases() -> list[Case]:
    """Every strategy with the topic it is used with, and once more where something else makes it dearer."""
    found = []
    for kind in STRATEGIES:
        change, note = (all_on_topic, "all pages on topic") if kind in FOCUSED else (list, "")
        found.append(Case(kind, OF_ITS_OWN.get(kind, "keywords"), change, note))
        found += [Case(kind, topic) for topic in ("examples", "taxonomy") if kind in GLANCING]
    found.append(Case("learned", "taxonomy", list, WITH_RULES))
    return [*found, Case("publications", "keywords", at_a_university, "most folders are new")]


def pages(count: int) -> Labelled:
    """Real-looking pages, parsed before the clock starts."""
    site, parser = web(20_000_000), HtmlParser()
    found: Labelled = []
    wanted = site.seeds(80, 50)
    for url in wanted:
        answer = site.page(url)
        assert answer
        reply = Reply(Link(url, "http://seed/"), url=url, status=200, content_type="text/html", body=answer.body)
        page = parser.parse(reply)
        wanted += [link.url for link in page.links[:8]] if len(wanted) < count else []
        found.append((answer.topic, Visit(reply, page, score=0.5, digest=content_digest(reply.body))))
        if len(found) == count:
            break
    return found


def known_links(count: int) -> Iterator[list[Link]]:
    """As many URLs as a crawl of that size knows, in pushes of seventy."""
    chance = Random(1)
    for start in range(0, count, 70):
        yield [
            Link(f"http://127.0.0.{2 + chance.randrange(50)}:80/articles/some-page-{number}.html", "", "an anchor", 3)
            for number in range(start, start + 70)
        ]


def judges(labelled: Labelled) -> dict[str, Callable[[Path], Any]]:
    """How to make each kind of topic, trained on the pages themselves; each time from scratch, as some learn."""
    examples = [(f"{label}/{n}.html", visit.page) for n, (label, visit) in enumerate(labelled[:TAUGHT])]
    own = [(name, page) for name, page in examples if name.startswith(TOPIC)]

    def ready(judge: Any, taught: list[tuple[str, Page]], work: Path) -> Any:
        judge.prepare(work, lambda path: taught)
        return judge

    return {
        "keywords": lambda work: ready(Keywords(words=list(WORDS)), [], work),
        "examples": lambda work: ready(Examples(".", target=[TOPIC]), examples, work),
        "taxonomy": lambda work: ready(Taxonomy(".", [TOPIC], min_pages=1), examples, work),
        "tids": lambda work: ready(Tids("."), own, work),
    }


async def judged(judge: Any, labelled: Labelled) -> list[Visit]:
    return [replace(visit, verdict=await judge.judge(visit.page)) for _, visit in labelled]


def write_rules(visits: list[Visit], work: Path) -> None:
    """Rules between the classes of pages and of what they link to; here, of the page that comes next."""
    labels = [visit.verdict.label for visit in visits]
    pairs = [(label, str(number), after) for number, (label, after) in enumerate(pairwise(labels))]
    led = []
    for visit in visits:
        links = visit.page.links
        for link, words in zip(links, all_words(visit.page, links), strict=True):
            led.append(Linked(visit.verdict.label, hostname(link.url), [words]))
    led = sample(led)
    links, values = train(led, [{page.label: 1.0 + len(page.links[0]) / 100} for page in led])
    rules = replace(rule_base.count(labels, pairs), links=links, values=values)
    rule_base.save(rules, work / rule_base.NAME)


def all_on_topic(visits: list[Visit]) -> list[Visit]:
    return [replace(visit, verdict=replace(visit.verdict, on_topic=True)) for visit in visits]


def at_a_university(visits: list[Visit]) -> list[Visit]:
    """The same pages with addresses whose folders are mostly a person's: most folders are new, their words are not."""
    chance = Random(3)

    def moved(link: Link) -> Link:
        folder = chance.choice(PATHS).format(f"user{chance.randrange(USERS)}")
        host, name = link.url.split("/", 3)[2], link.url.rpartition("/")[2]
        return replace(link, url=f"http://{host}/{folder}{name}")

    return [replace(visit, page=replace(visit.page, links=[*map(moved, visit.page.links)])) for visit in visits]


def measure(case: Case, judge: Any, visits: list[Visit], known: int, work: Path) -> tuple[Cost, str]:
    """What the links of the pages cost, and what comes beside."""
    settings = Config(fetch=Fetch(delay_s=0.0), scope=Scope())
    strategy: Any = STRATEGIES[case.kind]()
    if hasattr(strategy, "prepare"):
        strategy.prepare(work, judge)
    db = CrawlDb(work / "crawl.db").open()
    frontier = make_frontier(db, settings, scope.Scope(settings.scope), strategy, WallClock())
    chance = Random(2)
    for number, links in enumerate(known_links(known)):
        frontier.push(links, [chance.random()] * len(links))
        if number % COMMIT_PAGES == 0:  # all at the end would be left to be paid by the pages that are measured
            db.commit()
    db.commit()
    jobs = Jobs(at_once=False)
    crawl = Crawl(frontier, None, None, judge, strategy, [], str, db.turn, jobs)  # type: ignore[arg-type]
    gc.collect()  # what the last case left behind is not this one's
    cost = asyncio.run(_measure(crawl, visits, db))
    beside = analysis(strategy, frontier) if hasattr(strategy, "analyse") else ""
    db.close()
    return cost, beside


async def _measure(crawl: Crawl, visits: list[Visit], db: CrawlDb) -> Cost:
    for visit in visits:  # their own URLs must be known before they are visited
        crawl.frontier.push([visit.reply.link], [0.5])
    parts: list[tuple[float, int]] = []
    for start in range(0, len(visits), COMMIT_PAGES):
        part = visits[start : start + COMMIT_PAGES]
        used = 0.0
        for visit in part:
            await crawl.judge.judge(visit.page)  # as in a crawl, its words were just read
            started = time.process_time()
            crawl.strategy.learn(visit)
            crawl.frontier.push(visit.page.links, crawl.strategy.score(visit))
            if isinstance(crawl.strategy, Acts):
                crawl.jobs.apply(crawl.strategy, crawl.frontier)
            used += time.process_time() - started
        started = time.process_time()
        if hasattr(crawl.strategy, "save"):  # as a crawl does with each commit
            db.put("state:strategy", msgspec.json.encode(crawl.strategy.save()).decode())
        db.commit()
        used += time.process_time() - started
        parts.append((used, sum(len(visit.page.links) for visit in part)))
    mean = sum(used for used, _ in parts) / sum(links for _, links in parts)
    return Cost(median(used / links for used, links in parts) * 1e6, mean * 1e6)


def analysis(strategy: Any, frontier: DurableFrontier) -> str:
    """Now and then links are analysed, in a thread beside the crawl: seconds of CPU, and how long the loop waits."""
    started = time.process_time()
    edges = frontier.edges()
    before_s = time.process_time() - started
    analysed = strategy.analyse(*edges)
    between = time.process_time()
    frontier.rescore(*strategy.choose(analysed, frontier.waits_with, frontier.host_of))
    ended = time.process_time()
    return f"each analysis {ended - started:.2f} s, of which the crawl waits {before_s:.2f} + {ended - between:.2f}"


def run(case: Case, labelled: Labelled, kinds: dict[str, Callable[[Path], Any]], known: int) -> tuple[Cost, str]:
    """One case, with everything made from scratch."""
    with TemporaryDirectory() as name:
        work, judge = Path(name), kinds[case.topic](Path(name))
        visits = asyncio.run(judged(judge, labelled))
        if case.kind == "rules" or case.note == WITH_RULES:
            write_rules(visits, work)
        return measure(case, judge, case.change(visits), known, work)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--only", choices=STRATEGIES, help=f"one strategy, beside {YARDSTICK}")
    parser.add_argument("--times", type=int, default=1, help="all so many times, and the lowest of each")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    gc.set_threshold(100_000, 20, 100)  # as in a crawl
    labelled = pages(max(given.pages, TAUGHT))
    kinds = judges(labelled)
    wanted = [case for case in cases() if given.only in (None, case.kind) or case.kind == YARDSTICK]
    print(f"us CPU a link at {given.known:,} known URLs, {given.pages} pages: median of parts, mean of all")
    found: dict[Case, list[tuple[Cost, str]]] = {case: [] for case in wanted}
    for _ in range(given.times):
        for case in wanted:
            found[case].append(run(case, labelled[: given.pages], kinds, given.known))
            print(line(case, found[case][-1]), flush=True)
    if given.times > 1:
        print(f"lowest of {given.times}:")
        for case, costs in found.items():
            print(line(case, min(costs)))


def line(case: Case, found: tuple[Cost, str]) -> str:
    cost, further = found
    notes = ", ".join(filter(None, (case.topic, case.note, further)))
    return f"  {case.kind:15} {cost.median:6.1f} {cost.mean:6.1f}   {notes}"


if __name__ == "__main__":
    main()
