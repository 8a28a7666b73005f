"""How a crawl came to know a URL: a seed, a link, a search, a robots.txt."""

import io

import pytest
from rich.console import Console

from lycosa.db import CrawlDb
from lycosa.output.why import draw_path, read_path
from lycosa.store.visits import VisitStore
from lycosa.types import SEED_SCORE, Link, Page, Reply, Verdict, Visit


def told(link: Link, score: float, visited: bool, judged: bool = True) -> list[str]:
    """The lines about a URL that is visited, or waits."""
    db = CrawlDb(":memory:").open()
    if visited:
        store = VisitStore(db, None)
        store.open()
        page = Page(link.url) if judged else Page(link.url, seeds=[Link("http://b/")])
        digest = "x" if judged else ""
        store.write(Visit(Reply(link, link.url, 200), page, Verdict(0.5, True), score, digest))
    else:
        db.execute("INSERT INTO urls VALUES (1, ?, 0, ?, ?, ?, 0)", (link.url, link.anchor, link.depth, score))
    console = Console(file=io.StringIO(), width=120)
    draw_path(read_path(db, link.url), console)
    return [line.strip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("visited", [True, False])
@pytest.mark.parametrize("score", [SEED_SCORE, 1.0, 0.25])
def test_a_seed_is_a_seed_whatever_it_is_worth(score: float, visited: bool) -> None:
    """Strategies that let money flow give a seed its share."""
    assert told(Link("http://a/"), score, visited)[1] == "a seed"


@pytest.mark.parametrize("visited", [True, False])
def test_what_a_search_found_says_so(visited: bool) -> None:
    hit = Link("http://a/", anchor="wolf spider pdf")
    assert told(hit, SEED_SCORE, visited)[1] == "found by the search “wolf spider pdf”"
    assert told(hit, 0.9, visited)[1] == "found by the search “wolf spider pdf”, score 0.9000"


def test_a_link_has_a_score_and_words() -> None:
    assert told(Link("http://a/", anchor="more", depth=2), 0.5, visited=False)[1] == "score 0.5000, by the link “more”"
    assert told(Link("http://a/", depth=2), 0.5, visited=False)[1] == "score 0.5000"


def test_a_sitemap_is_named_by_robots_txt() -> None:
    lines = told(Link("http://a/sitemap.xml"), 1.0, visited=True, judged=False)
    assert lines[1:] == ["named by robots.txt", "visit 1: a sitemap, not judged"]
    assert told(Link("http://a/sitemap.xml"), SEED_SCORE, visited=True, judged=False)[1] == "a seed"
