"""What is in a recorded web, and what can be reached."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.one import crawl_web
from lycosa.lab.recorded import RecordedWeb, read_labels
from lycosa.lab.survey import LinkGraph, info, reach
from lycosa.strategy.breadth import BreadthFirst
from lycosa.types import BadInput, Page, Verdict

H = "http://a.example"
HOME, INDEX, ONE, TWO, OLD, ISLAND, TEXT = (f"{H}{path}" for path in ("/", "/i", "/1", "/2", "/old", "/island", "/t"))
FAR = "http://b.example/"


def links(*targets: str) -> str:
    return "".join(f"<a href='{target}'>x</a>" for target in targets)


class AnyJudge:
    async def judge(self, page: Page) -> Verdict:
        return Verdict()


@pytest.fixture
def web(warcs: Any) -> RecordedWeb:
    """A home page with two addresses, a chain behind a redirect, and an island."""
    home = links("/1", "/1#part", "/t", "/lost", "/old", "/")
    return warcs.web(
        {
            HOME: home,
            INDEX: home,
            ONE: "<title>one</title>" + links("/i", "/2"),
            TWO: links(FAR),
            OLD: warcs.moved("/2"),
            ISLAND: links("/island2", "/") + "island",
            f"{H}/island2": "second island",
            FAR: "far",
            TEXT: warcs.http(links("/island").encode(), Content_Type="text/plain"),
        }
    )


class TestGraph:
    def test_links_inside_the_recording(self, web: RecordedWeb) -> None:
        graph = LinkGraph(web)
        assert graph.links(HOME) == [ONE, TWO]
        assert graph.links(ONE) == [INDEX, TWO]
        assert graph.links(FAR) == []

    def test_what_is_no_page_leads_nowhere(self, web: RecordedWeb) -> None:
        graph = LinkGraph(web)
        assert graph.links(TEXT) == graph.links(OLD) == graph.links("http://lost.example/") == []

    def test_links_that_may_not_be_followed(self, warcs: Any) -> None:
        closed = warcs.http(links("/1").encode(), X_Robots_Tag="nofollow")
        web = warcs.web({HOME: closed, ONE: "x", TWO: "<a rel=nofollow href=/1>x</a>"}, "n.warc")
        graph = LinkGraph(web)
        assert graph.links(HOME) == graph.links(TWO) == []

    def test_a_page_is_read_once(self, web: RecordedWeb) -> None:
        graph = LinkGraph(web)
        first = graph.links(HOME)
        web.paths[0].unlink()
        assert graph.links(HOME) == first


class TestReach:
    def test_clicks(self, web: RecordedWeb) -> None:
        assert reach(LinkGraph(web), [HOME]) == {HOME: 0, ONE: 1, TWO: 1, FAR: 2}

    def test_from_another_address(self, web: RecordedWeb) -> None:
        assert reach(LinkGraph(web), [INDEX]) == {HOME: 0, ONE: 1, TWO: 1, FAR: 2}

    def test_from_a_redirect_and_from_nowhere(self, web: RecordedWeb) -> None:
        assert reach(LinkGraph(web), [OLD, "http://lost.example/", TEXT]) == {TWO: 0, FAR: 1}

    def test_no_seed(self, web: RecordedWeb) -> None:
        with pytest.raises(BadInput, match="not a web URL"):
            reach(LinkGraph(web), ["not a url"])


class TestInfo:
    def test_counts(self, web: RecordedWeb) -> None:
        labels = {INDEX: "home", ONE: "course", ISLAND: "course", FAR: "other", "http://lost.example/": "course"}
        got = info(web, [HOME], labels)
        assert (got.addresses, got.pages, got.hosts, got.links, got.reachable) == (9, 6, 2, 7, 4)
        assert got.labels == {"course": 2, "home": 1, "other": 1}
        assert got.reachable_labels == {"course": 1, "home": 1, "other": 1}

    def test_without_seeds_and_labels(self, web: RecordedWeb) -> None:
        got = info(web)
        assert (got.pages, got.reachable, got.labels, got.reachable_labels) == (6, 0, {}, {})


def test_a_real_web(texas: RecordedWeb, webs: Path) -> None:
    seeds = ["http://www.cs.utexas.edu/"]
    got = info(texas, seeds, read_labels(webs / "webkb-texas.labels.tsv"))
    assert (got.pages, got.hosts) == (817, 29)
    assert got.labels["course"] == got.reachable_labels["course"] == 38
    assert 770 <= got.reachable <= 790
    crawled = crawl_web(texas, seeds, AnyJudge(), BreadthFirst(), pages=0)
    assert set(crawled.order(texas.page)) == set(reach(LinkGraph(texas), seeds))
