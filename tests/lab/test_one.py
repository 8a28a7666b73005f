"""One crawl in the lab: the engine itself, repeatable to the fetch, and nothing read before it was fetched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lycosa import config
from lycosa.errors import PluginError
from lycosa.judge.keywords import Keywords
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.metrics import recall_curve, target_recall
from lycosa.lab.one import LAB, LabCrawl, crawl_web
from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels
from lycosa.lab.replay import SiteWeb
from lycosa.parse import Parsers
from lycosa.strategy.best_first import BestFirst
from lycosa.strategy.breadth import BreadthFirst
from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit

H = "http://a.example"


def links(*targets: str) -> str:
    return "".join(f"<a href='{target}'>x</a>" for target in targets)


class TitleJudge:
    """The title is the relevance."""

    async def judge(self, page: Page) -> Verdict:
        relevance = float(page.title or 0)
        return Verdict(relevance, relevance >= 0.5, label="good" if relevance >= 0.5 else "bad")


def title(relevance: float, *targets: str) -> str:
    return f"<title>{relevance}</title>{links(*targets)}"


def keywords() -> Keywords:
    judge = Keywords(words=["course", "homework", "syllabus", "lecture", "assignment"])
    judge.prepare(Path(), lambda path: [])
    return judge


def crawl(web: Any, strategy: Any = None, pages: int = 0, **more: Any) -> LabCrawl:
    return crawl_web(web, more.pop("seeds", [f"{H}/"]), TitleJudge(), strategy or BestFirst(), pages, **more)


def asked(crawled: LabCrawl) -> list[str]:
    return [fetch.url.removeprefix(H) for fetch in crawled.fetches]


@pytest.fixture
def web(warcs: Any) -> RecordedWeb:
    return warcs.web(
        {
            f"{H}/": title(0.1, "/low", "/high", "/lost"),
            f"{H}/low": title(0.2, "/low1", "/low2"),
            f"{H}/high": title(0.9, "/high1", "/high2"),
            f"{H}/low1": title(0.3),
            f"{H}/low2": title(0.4),
            f"{H}/high1": title(0.6, "/best"),
            f"{H}/high2": title(0.7, "/low1"),
            f"{H}/best": title(1.0),
        }
    )


class TestOrder:
    def test_best_first(self, web: RecordedWeb) -> None:
        got = asked(crawl(web))
        assert got == ["/", "/low", "/low1", "/low2", "/high", "/high1", "/high2", "/best", "/lost"]

    def test_breadth_first(self, web: RecordedWeb) -> None:
        got = asked(crawl(web, BreadthFirst()))
        assert got == ["/", "/low", "/high", "/lost", "/low1", "/low2", "/high1", "/high2", "/best"]

    def test_verdicts_scores_and_sources(self, web: RecordedWeb) -> None:
        best = next(fetch for fetch in crawl(web).fetches if fetch.url == f"{H}/best")
        assert (best.relevance, best.on_topic, best.label) == (1.0, True, "good")
        assert (best.score, best.depth, best.source) == (0.6, 3, f"{H}/high1")
        assert (best.error, best.is_page, best.final_url) == ("", True, best.url)

    def test_failures_are_fetches_but_no_pages(self, web: RecordedWeb) -> None:
        got = crawl(web)
        assert [fetch.error for fetch in got.fetches if not fetch.is_page] == ["http-404"]
        assert len(got.pages) == 8
        assert got.ended == "frontier empty"


class TestLimits:
    @pytest.mark.parametrize("pages", [1, 3, 7])
    def test_pages_are_counted_exactly(self, web: RecordedWeb, pages: int) -> None:
        got = crawl(web, pages=pages)
        assert len(got.pages) == pages
        assert got.ended == f"limit of {pages} pages"

    def test_failures_do_not_count(self, web: RecordedWeb) -> None:
        got = crawl(web, BreadthFirst(), pages=4)
        assert asked(got) == ["/", "/low", "/high", "/lost", "/low1"]

    def test_scope(self, web: RecordedWeb) -> None:
        got = crawl(web, settings=replace(LAB, scope=config.Scope(exclude=["/low"])))
        assert asked(got) == ["/", "/high", "/high1", "/high2", "/best", "/lost"]

    def test_no_limits_of_the_scope_but_those_asked_for(self, warcs: Any) -> None:
        trap = f"{H}{'/a/b' * 600}"
        web = warcs.web({f"{H}/": title(0.5, trap), trap: title(0.6)})
        assert len(crawl(web).pages) == 2

    def test_seeds_must_be_addresses(self, web: RecordedWeb) -> None:
        with pytest.raises(BadInput, match="'not a url' is not a web URL"):
            crawl(web, seeds=["not a url"])

    def test_a_seed_that_was_not_recorded(self, web: RecordedWeb) -> None:
        got = crawl(web, seeds=["http://lost.example"])
        assert ([fetch.error for fetch in got.fetches], got.pages) == (["http-404"], [])


class TestSeveralAddresses:
    @pytest.fixture
    def web(self, warcs: Any) -> RecordedWeb:
        """The home page has three addresses: its own, its index page's, and one that was moved."""
        home = title(0.5, "/index.html", "/old", "/new")
        return warcs.web(
            {
                f"{H}/": home,
                f"{H}/index.html": home,
                f"{H}/old": warcs.moved("/new"),
                f"{H}/new": title(0.6, "/back"),
                f"{H}/back": warcs.moved("/"),
            }
        )

    def test_a_duplicate_is_a_page_that_is_not_judged_again(self, web: RecordedWeb) -> None:
        got = crawl(web)
        twin = got.fetches[1]
        assert (twin.url, twin.duplicate_of, twin.is_page, twin.relevance) == (f"{H}/index.html", f"{H}/", True, 0.0)

    def test_redirects_count_once(self, web: RecordedWeb) -> None:
        got = crawl(web)
        assert [(fetch.url.removeprefix(H), fetch.error) for fetch in got.fetches] == [
            ("/", ""),
            ("/index.html", ""),
            ("/old", "redirect-known"),  # it is a link of its own, and waits
            ("/new", ""),
            ("/back", "redirect-known"),
        ]
        assert [url.removeprefix(H) for url in got.accessed] == ["/", "/index.html", "/old", "/new", "/back"]

    def test_the_order_by_page(self, web: RecordedWeb) -> None:
        assert crawl(web).order(web.page) == [f"{H}/", f"{H}/", f"{H}/new"]


class TestRobots:
    @pytest.fixture
    def web(self, warcs: Any) -> RecordedWeb:
        rules = warcs.http(b"User-agent: *\nDisallow: /private\nCrawl-delay: 100\n", Content_Type="text/plain")
        pages = {f"{H}/": title(0.5, "/private", "/open"), f"{H}/private": title(0.9), f"{H}/open": title(0.7)}
        return warcs.web({f"{H}/robots.txt": rules, **pages})

    def test_ignored(self, web: RecordedWeb) -> None:
        assert len(crawl(web).pages) == 3

    def test_obeyed_without_waiting(self, web: RecordedWeb) -> None:
        got = crawl(web, robots=True)
        assert [(fetch.url.removeprefix(H), fetch.error) for fetch in got.fetches] == [
            ("/", ""),
            ("/private", "robots"),
            ("/open", ""),
        ]
        assert got.seconds >= 100.0  # of the lab, which passed in no time


@dataclass
class Learner:
    """A strategy that remembers what it learned from."""

    seen_: list[str] = field(default_factory=list, init=False)

    def score(self, visit: Visit) -> Sequence[float]:
        return [visit.verdict.relevance * 0.9**place for place, _ in enumerate(visit.page.links)]

    def merge(self, waiting: float, found: float) -> float:
        return waiting + found

    def learn(self, visit: Visit) -> None:
        self.seen_.append(visit.reply.link.url)


class Watched:
    """Notes down every look at the web."""

    def __init__(self, web: Any) -> None:
        self.web = web
        self.looked: list[str] = []

    def get(self, url: str) -> Any:
        self.looked.append(url)
        return self.web.get(url)


def known_before(web: Any, got: LabCrawl, seeds: list[str]) -> bool:
    """Was every address a seed, a link of a page that was fetched before it, or the target of such a redirect?"""
    known, parser = set(seeds), Parsers()
    for url in got.accessed:
        if url not in known:
            return False
        answer = web.get(url)
        headers = {name.lower(): value for name, value in answer.headers} if answer else {}
        if answer and 300 <= answer.status < 400:
            known.add(web.entry(url).location)
        elif answer:
            reply = Reply(Link(url), url=url, content_type=headers.get("content-type", ""), body=answer.body)
            known.update(link.url for link in parser.parse(reply).links)
    return True


class TestNoPeeking:
    def test_only_what_was_fetched_is_read(self, web: RecordedWeb) -> None:
        watched, strategy = Watched(web), Learner()
        got = crawl(watched, strategy, pages=5)
        assert watched.looked == got.accessed
        assert strategy.seen_ == [fetch.url for fetch in got.fetches]
        assert known_before(web, got, [f"{H}/"])

    def test_on_a_real_web(self, texas: RecordedWeb) -> None:
        watched, seeds = Watched(texas), ["http://www.cs.utexas.edu/"]
        got = crawl_web(watched, seeds, keywords(), Learner(), 60)
        assert watched.looked == got.accessed
        assert known_before(texas, got, seeds)


class TestRepeatable:
    @pytest.mark.parametrize("strategy", [BestFirst, BreadthFirst, Learner])
    def test_on_a_generated_web(self, strategy: type) -> None:
        web = GeneratedWeb(pages=300, hosts=12, seed=7)
        runs = [crawl_web(SiteWeb(web), web.seeds(80), keywords(), strategy(), 80) for _ in range(2)]
        assert runs[0] == runs[1]
        assert len(runs[0].pages) == 80

    def test_politeness_changes_the_hosts_turn_but_takes_no_time(self) -> None:
        web = GeneratedWeb(pages=300, hosts=12, seed=7)
        polite = replace(LAB, fetch=config.Fetch(delay_s=1000.0))
        runs = [crawl_web(SiteWeb(web), web.seeds(80), keywords(), BestFirst(), 80, polite) for _ in range(2)]
        assert runs[0] == runs[1]
        assert len(runs[0].pages) == 80
        assert runs[0].seconds >= 1000.0

    def test_on_a_real_web(self, texas: RecordedWeb, webs: Path) -> None:
        seeds = ["http://www.cs.utexas.edu/"]
        runs = [crawl_web(texas, seeds, keywords(), BestFirst(), 400) for _ in range(2)]
        assert runs[0] == runs[1]
        assert len(runs[0].pages) == 400
        labels = page_labels(texas, read_labels(webs / "webkb-texas.labels.tsv"))
        courses = {page for page, label in labels.items() if label == "course"}
        order = runs[0].order(texas.page)
        assert target_recall(order, courses) == recall_curve(order, courses)[-1] > 0.6


def test_a_bug_in_a_strategy_is_named(web: RecordedWeb) -> None:
    """As in a crawl folder: one line, also when it comes from another process."""

    class Stumbles(BestFirst):
        def score(self, visit: Visit) -> Sequence[float]:
            raise ZeroDivisionError(len(visit.page.links))

    with pytest.raises(PluginError, match=f"a bug in the strategy {__name__}: ZeroDivisionError") as caught:
        crawl(web, Stumbles())
    assert caught.value.part == "strategy"
