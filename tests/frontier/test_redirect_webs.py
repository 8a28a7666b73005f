"""Webs full of redirects, across hosts that rest, with many workers: no page is lost or fetched twice, and no host
sees a request out of turn."""

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa import config, urls
from lycosa.assembly import make_frontier
from lycosa.crawl import Crawl
from lycosa.frontier.scope import Scope
from lycosa.lab.answer import Answer
from lycosa.lab.clock import LabClock, run_in_lab
from lycosa.lab.one import Fetches
from lycosa.lab.replay import ReplayFetcher
from lycosa.parse import Parsers, content_digest
from lycosa.store.db import WAITING, CrawlDb
from lycosa.strategy.breadth import BreadthFirst
from lycosa.types import Link, Page, Verdict

LATENCY_S, DELAY_S = 0.3, 1.0


class AnyJudge:
    async def judge(self, page: Page) -> Verdict:
        return Verdict()


class TangledWeb:
    """`pages` have links, `moved` is where redirects lead, `robots` what the robots.txt of a host is: a crawl-delay, or
    a host that has it instead. Keeps a log of the requests with their times."""

    def __init__(self, pages: dict[str, list[str]], moved: dict[str, str], robots: dict[str, Any]) -> None:
        self.pages, self.moved, self.robots = pages, moved, robots
        self.clock = LabClock()
        self.log: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def get(self, url: str) -> Answer | None:
        host = urls.host(url)
        self.log[host].append((self.clock.now(), url))
        if url.endswith("/robots.txt"):
            told = self.robots.get(host)
            if isinstance(told, str):
                return Answer(301, (("Location", f"http://{told}/robots.txt"),))
            text = f"User-agent: *\nCrawl-delay: {told}\n" if told else ""
            return Answer(headers=(("Content-Type", "text/plain"),), body=text.encode())
        if url in self.moved:
            return Answer(302, (("Location", self.moved[url]),))
        if url not in self.pages:
            return None
        links = "".join(f'<a href="{link}">x</a>' for link in self.pages[url])
        return Answer(body=f"<title>{url}</title>{links}".encode())

    def reachable(self, seeds: list[str]) -> set[str]:
        found, todo = set(seeds), [*seeds]
        while todo:
            url = todo.pop()
            for link in [self.moved[url]] if url in self.moved else self.pages.get(url, []):
                if link not in found:
                    found.add(link)
                    todo.append(link)
        return found


def crawl(web: TangledWeb, seeds: list[str], robots: bool = True) -> tuple[Fetches, dict[str, int], str]:
    """What was fetched, the state of each known URL, and why it ended."""
    rules = config.Fetch(delay_s=DELAY_S, max_redirects=100, concurrency=16)
    db = CrawlDb(":memory:").open()
    scope, strategy, fetches = Scope(config.Scope(max_depth=0)), BreadthFirst(), Fetches(web.clock.now)
    frontier = make_frontier(db, config.Config(fetch=rules), scope, strategy, web.clock)
    frontier.load()
    fetcher = ReplayFetcher(web, rules, web.clock.now, frontier.refuses_hop, db if robots else None, LATENCY_S)
    parts = Crawl(frontier, fetcher, Parsers(), AnyJudge(), strategy, [fetches], content_digest)
    run_in_lab(web.clock, parts.run([Link(url) for url in seeds], rules.concurrency))
    states = dict(db.execute("SELECT url, state FROM urls").fetchall())
    assert len(states) == db.execute("SELECT count(*) FROM urls").fetchone()[0]
    return fetches, states, frontier.ended


def check(web: TangledWeb, seeds: list[str], robots: bool = True) -> Fetches:
    fetches, states, ended = crawl(web, seeds, robots)
    reachable = web.reachable(seeds)
    assert ended == "frontier empty"
    assert {one.final_url for one in fetches.all if not one.error} == reachable & web.pages.keys()
    assert {url for url, state in states.items() if state == WAITING} == set()
    assert states.keys() == reachable
    fetched = Counter(url for host in web.log.values() for _, url in host if not url.endswith("/robots.txt"))
    assert max(fetched.values()) == 1, fetched
    for host, log in web.log.items():
        told = web.robots.get(host)
        delay_s = DELAY_S
        for (before, url), (after, _) in pairwise(log):
            if url == f"http://{host}/robots.txt" and isinstance(told, float):
                delay_s = max(delay_s, told)
            assert after - before >= LATENCY_S + delay_s - 1e-3, (host, url, after - before)
    return fetches


def errors(fetches: Fetches) -> dict[str, str]:
    return {one.url: one.error for one in fetches.all}


def test_a_redirect_to_a_link_that_waits_in_mid_redirect() -> None:
    """R leads to T at a host that is busy for a while; R waits for it when Q leads to R."""
    pages = {**{f"http://t/{n}": [] for n in range(4)}, "http://t/t": [], "http://q/1": []}
    web = TangledWeb(pages, {"http://r/": "http://t/t", "http://q/2": "http://r/"}, {})
    seeds = [*(f"http://t/{n}" for n in range(4)), "http://r/", "http://q/1", "http://q/2"]
    found = errors(check(web, seeds, robots=False))
    assert (found["http://r/"], found["http://q/2"]) == ("", "redirect-known")


@pytest.mark.parametrize("seeds", [["http://a/"], ["http://a/", "http://b/"], ["http://c/", "http://b/", "http://a/"]])
def test_a_loop_of_three_ends_for_each_of_them(seeds: list[str]) -> None:
    web = TangledWeb({}, {"http://a/": "http://b/", "http://b/": "http://c/", "http://c/": "http://a/"}, {})
    found = errors(check(web, seeds, robots=False))
    assert found.keys() == set(seeds)
    assert set(found.values()) <= {"redirect-loop", "redirect-known"}


def test_a_target_that_waits_is_fetched_in_its_own_right() -> None:
    web = TangledWeb({"http://a/1": [], "http://a/2": [], "http://a/3": []}, {"http://b/": "http://a/3"}, {})
    found = errors(check(web, ["http://a/1", "http://a/2", "http://a/3", "http://b/"], robots=False))
    assert found["http://a/3"] == ""
    assert found["http://b/"] == "redirect-known"


def test_a_link_led_to_a_url_that_waits_for_its_moved_robots_txt() -> None:
    """Q is led to P at host h while P itself waits at host k, which keeps the robots.txt of h: Q has a turn at h,
    not at k."""
    pages = {"http://h/p": [], **{f"http://k/{n}": [] for n in range(3)}, "http://q/1": []}
    web = TangledWeb(pages, {"http://q/2": "http://h/p"}, {"h": "k", "k": 5.0})
    check(web, ["http://k/0", "http://k/1", "http://k/2", "http://h/p", "http://q/1", "http://q/2"])


def test_a_host_keeps_its_own_delay_when_it_answers_for_another() -> None:
    """Its robots.txt asks for five seconds; then the robots.txt of others is requested from it."""
    pages = {f"http://k/{n}": [f"http://h{n}/"] for n in range(4)} | {f"http://h{n}/": [] for n in range(4)}
    check(TangledWeb(pages, {}, {"k": 5.0, **{f"h{n}": "k" for n in range(4)}}), [f"http://k/{n}" for n in range(4)])


HOSTS = [f"h{n}" for n in range(4)]
URLS = [f"http://{host}/{path}" for host in HOSTS for path in range(8)]


@st.composite
def webs(draw: st.DrawFn) -> tuple[TangledWeb, list[str]]:
    url = st.sampled_from(URLS)
    chance = draw(st.randoms(use_true_random=False))
    moved = {one: chance.choice(URLS) for one in URLS if chance.random() < 0.5}
    kept = {one: chance.sample(URLS, chance.randint(0, 4)) for one in URLS if one not in moved}
    robots = draw(st.dictionaries(st.sampled_from(HOSTS), st.sampled_from([2.5, 6.0, "h0", "h1"]), max_size=4))
    here = {host: told for host, told in robots.items() if not (isinstance(told, str) and told in robots)}
    return TangledWeb(kept, moved, here), draw(st.lists(url, min_size=1, max_size=20, unique=True))


@settings(deadline=None, max_examples=100)
@given(given_web=webs(), robots=st.booleans())
def test_random_webs(given_web: tuple[TangledWeb, list[str]], robots: bool) -> None:
    check(*given_web, robots)
