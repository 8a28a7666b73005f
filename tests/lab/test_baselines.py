"""Chance is fair, and the oracle does what a crawler would do that knows where everything is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.baselines import Oracle, Random, oracle, plan
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.metrics import area_under_recall, link_distances
from lycosa.lab.one import LabCrawl, crawl_web
from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels
from lycosa.lab.survey import LinkGraph, reach
from lycosa.lab.webs import GeneratedPages
from lycosa.strategy.breadth import BreadthFirst
from lycosa.types import Link, Origin, Page, Reply, Verdict, Visit

H = "http://a.example"


class AnyJudge:
    async def judge(self, page: Page) -> Verdict:
        return Verdict()


def visit(name: str, *targets: str, score: float = 1.0, origin: Origin = Origin.PAGE) -> Visit:
    link = Link(f"{H}/{name}", origin=origin)
    links = [Link(f"{H}/{target}", link.url) for target in targets]
    return Visit(Reply(link, url=link.url, status=200), Page(link.url, links=links), score=score, digest=name)


def turn(strategy: Random, waiting: dict[str, float], taken: Visit) -> None:
    strategy.learn(taken)
    for link, score in zip(taken.page.links, strategy.score(taken), strict=True):
        name = link.url.rpartition("/")[2]
        waiting[name] = strategy.merge(waiting[name], score) if name in waiting else score


class TestRandom:
    def test_the_same_seed_the_same_chance(self) -> None:
        first, again, other = (Random(seed).score(visit("s", *"abcdef")) for seed in (1, 1, 2))
        assert first == again != other

    def test_scores_are_below_seeds_and_never_dropped(self) -> None:
        scores = Random(3).score(visit("s", *map(str, range(1_000))))
        assert 0 < min(scores) < max(scores)
        assert len(set(scores)) == 1_000

    def test_found_again_is_no_second_chance(self) -> None:
        assert Random().merge(0.3, 0.9) == 0.3

    def test_what_was_found_later_has_the_same_chance(self) -> None:
        """Of three that wait from the start one is taken and leads to a fourth: all three left are equal now."""
        nexts: Counter[str] = Counter()
        for seed in range(1_500):
            strategy, waiting = Random(seed), dict[str, float]()
            turn(strategy, waiting, visit("s", "a", "b", "c", origin=Origin.SEED))
            first = max(waiting, key=waiting.__getitem__)
            turn(strategy, waiting, visit(first, "late", score=waiting.pop(first)))
            second = max(waiting, key=waiting.__getitem__)
            nexts["late" if second == "late" else "early"] += 1
        assert nexts["late"] / 1_500 == pytest.approx(1 / 3, abs=0.05)

    def test_every_order_comes(self) -> None:
        orders = Counter()
        for seed in range(600):
            scores = Random(seed).score(visit("s", "a", "b", "c"))
            orders[tuple(sorted("abc", key=lambda name: scores["abc".index(name)]))] += 1
        assert len(orders) == 6
        assert min(orders.values()) > 60


class Toy:
    """Pages that are numbers, and the links between them."""

    def __init__(self, links: Mapping[str, Sequence[str]]) -> None:
        self.given = links

    @property
    def web(self) -> "Toy":
        return self

    def __len__(self) -> int:
        return len(self.given)

    def get(self, url: str) -> None:
        raise AssertionError("a plan needs no page")

    def resolve(self, url: str) -> str:
        return url if url in self.given else ""

    def page(self, url: str) -> str:
        return url if url in self.given else ""

    def pages(self) -> list[str]:
        return list(self.given)

    def links(self, url: str) -> list[str]:
        return [target for target in dict.fromkeys(self.given[url]) if target != url and target in self.given]


def toy(**links: str) -> Toy:
    every = {*links, *"".join(links.values())}
    return Toy({name: list(links.get(name, "")) for name in sorted(every)})


class TestPlan:
    def test_targets_first(self) -> None:
        assert plan(toy(s="abT"), ["s"], {"T"}, 10) == ["s", "T"]

    def test_then_what_leads_to_one(self) -> None:
        assert plan(toy(s="abc", b="T"), ["s"], {"T"}, 10) == ["s", "b", "T"]

    def test_the_nearest_first(self) -> None:
        assert plan(toy(s="ab", a="c", c="T", b="U"), ["s"], {"T", "U"}, 10) == ["s", "b", "U", "a", "c", "T"]

    def test_of_several_as_near_the_one_that_leads_to_most(self) -> None:
        assert plan(toy(s="ab", a="T", b="UVW"), ["s"], set("TUVW"), 10) == ["s", "b", "U", "V", "W", "a", "T"]

    def test_a_hub_is_worth_what_is_still_missing_there(self) -> None:
        web = toy(s="abc", a="TU", b="TUV", c="WX")
        assert plan(web, ["s"], set("TUVWX"), 20) == ["s", "b", "T", "U", "V", "c", "W", "X"]

    def test_seeds_first_whatever_they_are(self) -> None:
        assert plan(toy(s="T", r=""), ["s", "r"], {"T"}, 10) == ["s", "r", "T"]

    def test_no_more_pages_than_allowed(self) -> None:
        assert plan(toy(s="TUV"), ["s"], set("TUV"), 2) == ["s", "T"]
        assert plan(toy(s="TUV", r=""), ["s", "r"], set("TUV"), 1) == ["s"]

    def test_what_cannot_be_reached_is_not_looked_for(self) -> None:
        assert plan(toy(s="a", x="T"), ["s"], {"T"}, 10) == ["s"]
        assert plan(toy(s="aU", a="s", x="T"), ["s"], {"T", "U"}, 10) == ["s", "U"]

    def test_a_target_among_the_seeds(self) -> None:
        assert plan(toy(T="a"), ["T"], {"T"}, 10) == ["T"]

    def test_seeds_that_are_no_pages(self) -> None:
        assert plan(toy(s="T"), ["nowhere"], {"T"}, 10) == []

    @given(st.data())
    def test_the_same_as_looking_at_everything_in_each_step(self, data: st.DataObject) -> None:
        names = [chr(97 + number) for number in range(data.draw(st.integers(1, 12)))]
        some = st.lists(st.sampled_from(names), max_size=4)
        web = Toy({name: data.draw(some) for name in names})
        targets = set(data.draw(some)) | {names[-1]}
        got = plan(web, [names[0]], targets, 50)
        assert got == slow_plan(web, names[0], targets)
        reachable = targets & set(link_distances(web.links, [names[0]]))
        assert reachable <= set(got)
        assert len(set(got)) == len(got)
        assert not reachable or set(got[-1:]) <= targets or got == [names[0]]


def slow_plan(web: Toy, seed: str, targets: set[str]) -> list[str]:
    """Greedy as the oracle is, with all distances computed again for each page."""
    order, known = [seed], [seed, *web.links(seed)]
    while targets - set(order):
        best: tuple[Any, str] | None = None
        for place, name in enumerate(known):
            if name in order:
                continue
            unknown = {page for page in web.pages() if page not in known}
            clicks = link_distances(lambda page, inside=unknown: [p for p in web.links(page) if p in inside], [name])
            missing = [d for page, d in clicks.items() if page in targets and page not in order]
            if missing:
                worth = (min(missing), -missing.count(min(missing)) if min(missing) else 0, place)
                best = min(best, (worth, name)) if best else (worth, name)
        if best is None:
            break
        order.append(best[1])
        known += [page for page in web.links(best[1]) if page not in known]
    return order


def crawl(web: Any, strategy: Any, seeds: list[str], pages: int) -> LabCrawl:
    return crawl_web(web, seeds, AnyJudge(), strategy, pages)


class TestOracle:
    def test_the_engine_follows_the_plan(self) -> None:
        web = GeneratedPages(
            GeneratedWeb(
                pages=300,
                hosts=15,
                seed=5,
                text=Text(size_bytes=(500, 1_000)),
                links=Links(count=(3, 8), chains=2),
                oddities=Oddities(dead_ends=0.1, duplicates=0.1, redirects=0.1, failing=True),
            )
        )
        targets = {page for page, topic in web.topics().items() if topic == "music" and page in reach(web, web.seeds())}
        planned = plan(web, web.seeds(), targets, 100)
        got = crawl(web, oracle(planned, web), web.seeds(), 100).order(web.page)
        assert got[: len(planned)] == planned
        assert len(targets) > 5
        blind = crawl(web, BreadthFirst(), web.seeds(), 100).order(web.page)
        assert area_under_recall(got, targets, 100) > area_under_recall(blind, targets, 100)

    def test_of_several_addresses_of_a_page_one_is_asked(self, warcs: Any) -> None:
        target = "<title>target</title>"
        web = warcs.web(
            {
                f"{H}/": "<a href=/old>x</a><a href=/t>x</a><a href=/t/index>x</a><a href=/u>x</a>",
                f"{H}/old": warcs.moved("/t"),
                f"{H}/t": target,
                f"{H}/t/index": target,
                f"{H}/u": "another",
            }
        )
        goals = {f"{H}/t", f"{H}/u"}
        planned = plan(LinkGraph(web), [f"{H}/"], goals, 10)
        assert planned == [f"{H}/", f"{H}/t", f"{H}/u"]
        got = crawl(web, oracle(planned, web), [f"{H}/"], 3)
        assert [fetch.url for fetch in got.fetches] == [f"{H}/", f"{H}/old", f"{H}/t", f"{H}/u"]

    def test_the_rest_comes_after_the_plan(self) -> None:
        strategy = Oracle({f"{H}/s": 0, f"{H}/t": 1}, Toy({f"{H}/{name}": [] for name in "stx"}))
        assert list(strategy.score(visit("s", "x", "t", "lost"))) == [0.0, 1.0, 0.0]
        assert strategy.merge(0.0, 1.0) == 1.0

    def test_on_a_real_web(self, texas: RecordedWeb, webs: Any) -> None:
        seeds = ["http://www.cs.utexas.edu/"]
        graph = LinkGraph(texas)
        reached = reach(graph, seeds)
        labels = page_labels(texas, read_labels(webs / "webkb-texas.labels.tsv"))
        courses = {page for page, label in labels.items() if label == "course" and page in reached}
        planned = plan(graph, seeds, courses, 400)
        got = crawl(texas, oracle(planned, texas), seeds, 100).order(texas.page)
        assert got[: len(planned)] == planned
        assert area_under_recall(got, courses, 400) > 0.9
