"""What a crawl brings at the politeness of a real one, beside strict order."""

import pytest
from msgspec.structs import replace

from lycosa import build, config
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import FIELD, LATENCY_S, LabCrawl, crawl_web, manner
from lycosa.lab.webs import open_web
from lycosa.strategy import STRATEGIES

WEB = "generated:pages=1500,hosts=60,seed=5,topics=12,locality=0.9"
WORDS = ["astronomy", "telescope", "galaxy", "planet", "orbit", "star"]
PAGES = 150


def crawl(kind: str, focus: float | None, latency_s: float = LATENCY_S) -> tuple[LabCrawl, float]:
    """A crawl in the field (in strict order, if `focus` is None), and its area under recall."""
    web = open_web(WEB)
    given = config.Config(topic={"kind": "keywords", "words": WORDS}, strategy={"kind": kind})
    source = config.Source(build.Path(config.NAME), "")
    judge = build.make_judge(given, source)
    strategy = build.make_strategy(given, source, judge)
    field = replace(FIELD, fetch=replace(FIELD.fetch, focus=focus))
    how = manner(False) if focus is None else {"settings": field, "latency_s": latency_s}
    got = crawl_web(web, web.seeds(), judge, strategy, PAGES, **how)  # type: ignore[attr-defined]
    targets = {page for page in web.pages() if web.site.topic_of(page) == "astronomy"}  # type: ignore[attr-defined]
    return got, area_under_recall(got.order(web.page), targets, PAGES)


@pytest.mark.parametrize("kind", ["best-first", "learned"])
def test_focus_keeps_what_strict_order_promises(kind: str) -> None:
    _, strict = crawl(kind, None)
    focused, area = crawl(kind, 0.9)
    busy, busy_area = crawl(kind, 0.0)
    assert area >= 0.85 * strict
    assert area > busy_area
    assert len(focused.pages) == len(busy.pages) == PAGES
    assert 0 < busy.seconds < focused.seconds


def test_the_same_crawl_twice() -> None:
    assert crawl("learned", 0.9)[0] == crawl("learned", 0.9)[0]


@pytest.mark.parametrize("kind", sorted(set(STRATEGIES) - {"rules", "tids", "publications"}))
def test_every_strategy_comes_to_its_end(kind: str) -> None:
    """Whatever the scale of its scores: money, minus the depth, probabilities."""
    got, _ = crawl(kind, 0.9)
    assert got.ended == f"limit of {PAGES} pages"


def test_no_host_is_asked_sooner_than_its_delay() -> None:
    got, _ = crawl("best-first", 0.9)
    last: dict[str, float] = {}
    for fetch in got.fetches:
        host = fetch.url.split("/")[2]
        if host in last:
            assert fetch.at - last[host] >= FIELD.fetch.delay_s
        last[host] = fetch.at


def test_answers_take_their_time() -> None:
    slow, _ = crawl("best-first", 0.9, latency_s=3.0)
    quick, _ = crawl("best-first", 0.9)
    assert slow.seconds > 2 * quick.seconds
