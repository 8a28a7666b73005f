"""OPIC and OTIE: where the money goes, to the last digit of the worked examples, through the real loop and frontier."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from lycosa import config
from lycosa.assembly import make_frontier
from lycosa.crawl import Crawl
from lycosa.frontier.scope import Scope
from lycosa.store.db import CrawlDb
from lycosa.strategy.opic import Opic
from lycosa.strategy.otie import Otie
from lycosa.types import BadInput, Deferred, Exchange, Lease, Link, Origin, Page, Reply, Verdict, Visit

GRAPH = {"A": "CD", "B": "CE", "C": "D", "D": "", "E": "A"}
PROMISED = {"A>C": 0.8, "A>D": 0.2, "B>C": 0.6, "B>E": 0.4, "C>D": 0.9, "E>A": 0.3}
RELEVANCE = {"A": 0.9, "B": 0.5, "C": 1.0, "D": 0.2, "E": 0.1}


def url(name: str) -> str:
    return f"http://{name.lower()}.example/"


def name(address: str) -> str:
    return address[7].upper()


class Toy:
    """Five pages that fetch, parse and judge themselves. A link's context is one word that says from where to where."""

    async def fetch(self, lease: Lease) -> Reply:
        link = lease.link
        return Reply(link, url=link.url, status=200, body=link.url.encode())

    def parse(self, reply: Reply) -> Page:
        source = name(reply.url)
        words: list[str] = []
        links = []
        for target in GRAPH[source]:
            words += ["x"] * 15 + [f"{source}>{target}"] + ["x"] * 15
            links.append(Link(url(target), reply.url, "", 1, len(words) - 16, len(words) - 15))
        return Page(reply.url, words=words, links=links)

    async def judge(self, page: Page) -> Verdict:
        return Verdict(RELEVANCE[name(page.url)])

    def relevance_of(self, words: Any) -> float:
        return next(PROMISED[word] for word in words if word != "x")


class Log:
    def __init__(self) -> None:
        self.visits: list[Visit] = []

    def write(self, visit: Visit) -> None:
        self.visits.append(visit)


async def crawl(strategy: Any, clock: Any, scope: config.Scope | None = None) -> tuple[dict[str, float], Any]:
    """Every page in the order of fetching with its cash at that moment; and the frontier."""
    db = CrawlDb(":memory:").open()
    settings = config.Config(fetch=config.Fetch(delay_s=0.0, focus=0.0), scope=scope or config.Scope())
    toy, log = Toy(), Log()
    strategy.prepare(Path(), toy)
    frontier = make_frontier(db, settings, Scope(settings.scope), strategy, clock)
    loop = Crawl(frontier, toy, toy, toy, strategy, [log], lambda body: body.decode())
    await loop.run([Link(url(name), origin=Origin.SEED) for name in "AB"], workers=1)
    return {name(visit.reply.link.url): visit.score for visit in log.visits}, frontier


async def test_otie_with_lists_of_one(clock: Any) -> None:
    otie = Otie(list_size=1, beta=0.0, recrawl=False)
    cash, _ = await crawl(otie, clock)
    assert list(cash) == ["A", "C", "D", "B", "E"]
    assert cash == pytest.approx({"A": 0.5, "C": 0.57408, "D": 1.205568, "B": 0.5, "E": 0.142857}, abs=1e-6)
    assert otie.cash_ == pytest.approx({url("C"): 0.357143, url("A"): 0.080686}, abs=1e-6)


async def test_opic_with_lists_of_one(clock: Any) -> None:
    cash, _ = await crawl(Opic(list_size=1), clock)
    assert list(cash) == ["A", "B", "C", "D", "E"]
    assert cash["C"] == pytest.approx(0.5)


async def test_otie_with_lists_of_two_and_a_replay_of_the_richest_page(clock: Any) -> None:
    otie = Otie(list_size=2, beta=0.0)
    cash, _ = await crawl(otie, clock)
    assert list(cash) == ["A", "B", "C", "E", "D"]
    assert cash["C"] == pytest.approx(0.87408)
    assert cash["D"] == pytest.approx(1.760568)
    # after D the page A passes on what it got from E, revised again; both its targets are fetched by now
    assert otie.cash_ == pytest.approx({url("C"): 0.1351, url("D"): 0.02702}, abs=1e-6)


@pytest.mark.parametrize(
    ("r", "factor"), [(0, 0.15), (0.1, 0.5648), (0.25, 0.89375), (0.5, 1), (0.75, 1.10625), (0.9, 1.4352), (1, 1.85)]
)
def test_relevance_revises_cash(r: float, factor: float) -> None:
    assert Otie().revised(1.0, r) == pytest.approx(factor)


def test_cash_is_never_negative() -> None:
    assert Otie(a=1.5).revised(1.0, 0.0) == 0.0
    assert Otie(d=1).revised(1.0, 0.9) == pytest.approx(1.68)


async def test_links_that_may_not_be_asked_get_nothing(clock: Any) -> None:
    cash, _ = await crawl(Opic(list_size=1), clock, config.Scope(exclude=["d.example"]))
    assert list(cash) == ["A", "B", "C", "E"]
    assert cash["C"] == pytest.approx(0.75)  # all of A's, half of B's


async def test_dead_ends_give_to_all(clock: Any) -> None:
    opic = Opic(list_size=1)
    cash, _ = await crawl(opic, clock)
    assert opic.gift_ == pytest.approx(0.75 / 5)  # D's money, shared by the five known
    assert cash["E"] + opic.gift_ == pytest.approx(0.25 + 0.15)


async def test_money_that_outgrows_numbers_is_scaled_down(clock: Any) -> None:
    otie = Otie(list_size=1, beta=0.0, recrawl=False, a=1e7)
    cash, frontier = await crawl(otie, clock)
    assert list(cash) == ["A", "C", "D", "B", "E"]
    assert max(frontier._table.scores) <= 1e8
    assert cash["B"] < 1e-8  # it waited with half of all money when C made it worthless


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(BadInput, match="d odd"):
        Otie(d=2).prepare(Path(), Toy())
    with pytest.raises(BadInput, match="list_size"):
        Opic(list_size=0).prepare(Path(), Toy())
    with pytest.raises(BadInput, match="judge a few words"):
        Otie().prepare(Path(), object())


class Alike:
    """A judge that sees how many words it is given."""

    def relevance_of(self, words: Any) -> float:
        return len(words) / 100


def lonely(**options: Any) -> Otie:
    """OTIE without a crawl around it."""
    otie = Otie(**options)
    otie.prepare(Path(), Alike())
    otie.connect(SimpleNamespace(notes=CrawlDb(":memory:").open(), refusals=lambda links: {}))
    return otie


def page_with_links(asked: str, *targets: str, at: str = "", cash: float = 1.0) -> Visit:
    """A page of average relevance, so that its cash is not revised; perhaps at the end of redirects."""
    links = [Link(url(target), at or asked, "", 1, 50, 53) for target in targets]
    page = Page(url(at or asked), words=["x"] * 100, links=links)
    steps = tuple(Exchange(url(step), b"", b"", b"", 0.0) for step in ([asked, at] if at else [asked]))
    reply = Reply(Link(url(asked)), url=url(at or asked), status=200, exchanges=steps)
    return Visit(reply, page, Verdict(0.5), score=cash, digest=at or asked)


def take(otie: Otie, visit: Visit) -> list[float]:
    otie.learn(visit)
    return list(otie.score(visit))


@pytest.mark.parametrize(("words", "promise"), [(1, 0.03), (20, 0.20), (60, 0.60)])
def test_the_words_around_a_link_are_as_many_as_one_says(words: int, promise: float) -> None:
    """The anchor has three words: with `words = 1` they are all that counts."""
    otie = lonely(words=words, beta=0.0)
    take(otie, page_with_links("A", "B"))
    assert msgspec.json.decode(otie.notes_.noted(f"links:{url('A')}")) == [[url("B"), promise]]


def test_a_page_reached_by_a_redirect_is_fetched_under_both_addresses() -> None:
    otie = lonely(beta=0.0)
    take(otie, page_with_links("A", "B", at="C"))
    given = take(otie, page_with_links("D", "C", "E"))
    # C is the page that was asked for as A: it counts with its true relevance, 0.5, beside the promised 0.2 of E
    assert given == pytest.approx([-1.0, 0.2 / 0.7])
    assert otie.cash_ == pytest.approx({url("A"): 0.5 / 0.7})


def test_money_of_another_address_goes_to_the_page_it_turned_out_to_be() -> None:
    otie = lonely()
    take(otie, page_with_links("A", "B"))
    again = Visit(Reply(Link(url("C")), url=url("C"), status=200), score=0.25, digest="A", duplicate_of=url("A"))
    led_back = Visit(Reply(Link(url("D")), url=url("D"), error="redirect-known", detail=url("C")), score=0.5)
    failed = Visit(Reply(Link(url("E")), url=url("E"), error="http-404"), score=8.0)
    for visit in (again, led_back, failed):
        assert take(otie, visit) == []
    assert otie.cash_ == {url("A"): 0.75}
    assert otie.same_ == {url("C"): url("A"), url("D"): url("A")}


def test_further_addresses_survive_a_restart() -> None:
    otie = lonely()
    take(otie, page_with_links("A", "B", at="C"))
    later = Otie()
    later.connect(otie.view_)
    later.load(otie.save())
    assert (later.same_, later.relevance_) == ({url("C"): url("A")}, {url("A"): 0.5})


def test_a_link_has_at_least_one_word() -> None:
    with pytest.raises(BadInput, match="words: 0 is less than 1"):
        Otie(words=0).prepare(Path(), Toy())


async def test_cash_that_others_give_to_the_target_of_a_redirect_under_way_is_not_lost(clock: Any) -> None:
    db, opic = CrawlDb(":memory:").open(), Opic(list_size=5)
    settings = config.Config(fetch=config.Fetch(delay_s=0.0, focus=0.0))
    frontier = make_frontier(db, settings, Scope(settings.scope), opic, clock)
    frontier.push([Link(url("A")), Link(url("B"))], [0.5, 0.25])
    lease = await frontier.pop()
    assert lease
    frontier.done(Deferred(Reply(lease.link, status=302), url("C"), url("C")))
    frontier.push([Link(url("C"))], [0.125])  # found on another page: the redirect is about to fetch it
    taken = {found.link.url for found in [await frontier.pop(), await frontier.pop()] if found}
    assert taken == {url("A"), url("B")}
    assert frontier.score(Link(url("A")), [url("A"), url("C")]) == 0.625
    assert frontier.score(Link(url("B")), [url("B")]) == 0.25


@pytest.mark.parametrize("strategy", [Opic(), Otie()], ids=["opic", "otie"])
def test_a_strategy_that_was_never_connected_scores_links(strategy: Any) -> None:
    """As in a program that has no frontier: nothing of the crawl is known, so nothing is refused or noted."""
    if hasattr(strategy, "prepare"):
        strategy.prepare(Path(), SimpleNamespace(relevance_of=lambda words: 0.5))
    seed = Link("http://a/", origin=Origin.SEED)
    assert strategy.open([seed]) == [1.0]
    links = [Link(f"http://a/{number}", source="http://a/", depth=1) for number in range(2)]
    visit = Visit(Reply(seed, url=seed.url, status=200), Page(seed.url, links=links), Verdict(0.5, True), 1.0, "x")
    strategy.learn(visit)
    first, second = strategy.score(visit)
    assert first == second > 0
    assert strategy.effects().ids == ()
