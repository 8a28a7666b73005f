"""How a crawl came to know a URL: a seed, a link, a search, a robots.txt."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from lycosa.output.why import Step, draw_path, draw_why, read_path, scored, sentence
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.types import BadInput, Band, Explanation, Link, Origin, Page, Reply, Verdict, Visit


def told(link: Link, score: float, visited: bool, judged: bool = True) -> list[str]:
    """The lines about a URL that is visited, or waits."""
    db = CrawlDb(":memory:").open()
    band = Band.FOUND if score or link.origin == Origin.PAGE else Band.FIRST
    row = (1, link.url, 0, link.anchor, link.depth, score, DONE if visited else WAITING, band, link.origin)
    db.execute("INSERT INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    if visited:
        store = VisitStore(db, None)
        store.open()
        page = Page(link.url) if judged else Page(link.url, listed=[Link("http://b/")])
        digest = "x" if judged else ""
        store.write(Visit(Reply(link, link.url, 200), page, Verdict(0.5, True), score, digest))
    return lines(draw_path, read_path(db, link.url))


def lines(draw: Callable[..., None], path: list[Step], *given: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=120)
    draw(path, console, *given)
    return [line.strip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("visited", [True, False])
@pytest.mark.parametrize("score", [0.0, 1.0, 0.25])
def test_a_seed_is_a_seed_whatever_it_is_worth(score: float, visited: bool) -> None:
    """Strategies that let money flow give a seed its share."""
    assert told(Link("http://a/", origin=Origin.SEED), score, visited)[1] == "a seed"


@pytest.mark.parametrize("visited", [True, False])
def test_what_a_search_found_says_so(visited: bool) -> None:
    hit = Link("http://a/", anchor="wolf spider pdf", origin=Origin.SEARCH)
    assert told(hit, 0.0, visited)[1] == "found by the search “wolf spider pdf”"
    assert told(hit, 0.9, visited)[1] == "found by the search “wolf spider pdf”, score 0.9000"


def test_a_link_has_a_score_and_words() -> None:
    assert told(Link("http://a/", anchor="more", depth=2), 0.5, visited=False)[1] == "score 0.5000, by the link “more”"
    assert told(Link("http://a/", depth=2), 0.5, visited=False)[1] == "score 0.5000"


def test_a_sitemap_is_named_by_robots_txt() -> None:
    lines = told(Link("http://a/sitemap.xml", origin=Origin.ROBOTS), 0.0, visited=True, judged=False)
    assert lines[1:] == ["a sitemap, named by robots.txt", "visit 1: a sitemap, not judged"]
    seed = Link("http://a/sitemap.xml", origin=Origin.SEED)
    assert told(seed, 0.0, visited=True, judged=False)[1] == "a seed"


# -- why ---------------------------------------------------------------------------------------------------------------

FOUND = Band.FOUND, Origin.PAGE
SEED = Step(1, "http://a/", 0, "", 0.0, 0, Band.FIRST, Origin.SEED, True, 1, relevance=0.25, title="A")
PAGE = Step(2, "http://a/b", 1, "b", 0.25, 1, *FOUND, True, 2, final_url="http://a/c", relevance=0.5, on_topic=True)
MOVED = Step(3, "http://a/c", 2, "", 0.0, 0, *FOUND, True, fate="reached by the redirect above")
WAITS = Step(4, "http://a/d", 3, "d", 0.5, 2, *FOUND, False, fate="it waits")
BECAUSE = Explanation("its page is relevant", {"one": 0.25, "other": 0.25}, "score")


def test_it_starts_with_one_plain_sentence() -> None:
    assert sentence(SEED, None) == "Fetched because it is a seed."
    assert sentence(PAGE, BECAUSE) == "Fetched because its page is relevant."
    assert sentence(PAGE, None) == "Fetched (the strategy does not explain its scores)."
    assert sentence(MOVED, None) == "Not fetched separately: a redirect led to it."
    assert sentence(WAITS, BECAUSE) == "Not fetched yet. Its score is 0.5000 because its page is relevant."
    assert sentence(replace(PAGE, error="timeout"), BECAUSE) == "Tried because its page is relevant."
    assert sentence(replace(SEED, n=0, is_done=False), None) == "Not fetched yet, though it is a seed and comes first."
    assert sentence(replace(SEED, origin=Origin.SEARCH), None) == "Fetched because a search found it."


def test_the_parts_of_a_score_come_with_their_sum() -> None:
    told = lines(draw_why, [SEED, PAGE, MOVED, WAITS], BECAUSE)
    assert told[0].startswith("Not fetched yet.")
    at = told.index("contributions to the score (score 0.500, the sum of these):")
    assert told[at + 1 : at + 3] == ["+0.250  one", "+0.250  other"]


def test_the_page_that_speaks_for_a_link_may_have_been_reached_by_a_redirect() -> None:
    link = scored([SEED, PAGE, MOVED, WAITS])
    assert link.link == Link("http://a/d", "http://a/c", "d", 2)
    assert (link.score, link.fetched, link.from_seed) == (0.5, False, False)
    assert link.source == Verdict(0.5, True)
    assert scored([SEED, PAGE]).from_seed
    assert scored([SEED]).source is None


def test_what_the_judge_said_before_labels_is_what_labels_have_not_added() -> None:
    judged = replace(PAGE, relevance=0.2, why={"spider": 0.6, "(labels)": -0.4})
    source = scored([SEED, judged, replace(WAITS, source=judged.id)]).source
    assert source
    assert (source.relevance, source.steering_relevance) == (0.2, pytest.approx(0.6))


def test_the_path_follows_the_pages_that_gave_the_scores() -> None:
    db = CrawlDb(":memory:").open()
    rows = [("http://a/", 0), ("http://a/b", 1), ("http://a/c", 2), ("http://a/d", 2)]
    for number, (url, source) in enumerate(rows, 1):
        db.execute("INSERT INTO urls VALUES (?, ?, ?, '', 0, 0.5, 0, 1, 0)", (number, url, source))
    assert [step.url for step in read_path(db, "http://a/d")] == ["http://a/", "http://a/b", "http://a/d"]
    with pytest.raises(BadInput, match="does not know"):
        read_path(db, "http://a/e")
