"""TIDS links: the published numbers, over the real judge."""

from pathlib import Path

import msgspec
import pytest

from lycosa.judge.tids import Tids
from lycosa.strategy.tids import TidsStrategy
from lycosa.text import words
from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit

DOCUMENTS = ("crawler crawler web", "crawler index", "web index index index")


@pytest.fixture
def judge(tmp_path: Path) -> Tids:
    """The table of three documents, which does not grow."""
    (tmp_path / "set").mkdir()
    judge = Tids("set", grow=False)
    judge.prepare(tmp_path, lambda _: [(text, page_of(text)) for text in DOCUMENTS])
    return judge


def page_of(text: str, *anchors: str) -> Page:
    links = tuple(Link(f"http://x/{number}", "http://x/", anchor) for number, anchor in enumerate(anchors))
    return Page("http://x/", text=text, words=words(text), links=links)


async def visit_of(judge: Tids, text: str, *anchors: str, found_by: str = "") -> Visit:
    page = page_of(text, *anchors)
    return Visit(Reply(Link("http://x/", "http://seed/", found_by), status=200), page, await judge.judge(page))


def ready(judge: Tids, **options: float) -> TidsStrategy:
    strategy = msgspec.convert(options, TidsStrategy)
    strategy.prepare(Path(), judge)
    return strategy


async def test_a_link_is_worth_its_page_and_its_anchor(judge: Tids) -> None:
    """73.3335 + 67.6217 = 140.9552, beside an anchor of two words, one without, and one that is no word of the set."""
    visit = await visit_of(judge, DOCUMENTS[0], "Index", "web crawler", "", "weather")
    of_page = 73.3335
    expected = [140.9552, of_page + 73.0779, of_page, of_page]
    assert ready(judge).score(visit) == pytest.approx(expected, abs=1e-3)


async def test_links_up_to_the_threshold_are_dropped(judge: Tids) -> None:
    visit = await visit_of(judge, DOCUMENTS[0], "index", "")
    link, bare = ready(judge, threshold=100.0).score(visit)
    assert link == pytest.approx(140.9552, abs=1e-3)
    assert bare < 0
    exactly = 100 * visit.verdict.relevance
    assert ready(judge, threshold=exactly).score(visit)[1] < 0  # it must be above, not at the threshold


async def test_without_a_threshold_nothing_is_dropped(judge: Tids) -> None:
    visit = await visit_of(judge, "weather", "sunshine")
    assert ready(judge).score(visit) == [0.0]


async def test_a_further_crawl_counts_the_anchor_as_part_of_the_page(judge: Tids) -> None:
    visit = await visit_of(judge, "crawler crawler", "", found_by="web")
    assert ready(judge, consecutive=True).score(visit) == pytest.approx([73.3335], abs=1e-3)
    assert ready(judge).score(visit) == pytest.approx([58.2659], abs=1e-3)


async def test_a_further_crawl_has_no_threshold(judge: Tids) -> None:
    visit = await visit_of(judge, DOCUMENTS[0], "", found_by="")
    assert ready(judge, consecutive=True, threshold=190.0).score(visit) == pytest.approx([73.3335], abs=1e-3)


async def test_the_table_that_grows_is_the_one_that_scores(tmp_path: Path) -> None:
    """A page that joins the set raises what its own words are worth as anchors."""
    (tmp_path / "set").mkdir()
    judge = Tids("set", grow=True, accept=0.0)
    judge.prepare(tmp_path, lambda _: [(text, page_of(text)) for text in DOCUMENTS])
    strategy = ready(judge)
    (before,) = strategy.score(Visit(Reply(Link("http://y/")), page_of("", "news"), Verdict()))
    judge.learn(await visit_of(judge, "crawler web crawler news"))
    (after,) = strategy.score(Visit(Reply(Link("http://y/")), page_of("", "news"), Verdict()))
    assert before == 0.0
    assert after > 0.0


def test_a_failure_has_no_links(judge: Tids) -> None:
    assert ready(judge).score(Visit(Reply(Link("http://x/"), error="timeout"))) == []


def test_the_best_find_counts() -> None:
    assert TidsStrategy().merge(20.0, 70.0) == TidsStrategy().merge(70.0, 20.0) == 70.0


def test_another_kind_of_topic_is_refused() -> None:
    with pytest.raises(BadInput, match=r'strategy\.kind: tids needs a topic of kind "tids"'):
        TidsStrategy().prepare(Path(), object())


@pytest.mark.parametrize("threshold", [-1.0, 201.0])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(msgspec.ValidationError, match="threshold"):
        msgspec.convert({"threshold": threshold}, TidsStrategy)
