"""What made a score is kept until the link was visited: exact to a thousandth, compact, and only as long as needed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.store.db import CrawlDb
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.links import CODES, Finds, Links
from lycosa.strategy.online_logistic import Weighed, Weights
from lycosa.strategy.reasons import Reasons, explain
from lycosa.strategy.sources import Source
from lycosa.types import Explanation, Link, Scored

SIZE = len(PRIOR)
PAGES = [Source(number, 0.5 - number / 10, "", 0, 0.1, 1.0) for number in range(3)]


def weighed(*evidence: float) -> Weighed:
    return Weights(PRIOR, -2.0).weigh([*evidence, *[0.0] * (SIZE - len(evidence))])


class Kept:
    """Two links of three pages, and what is known about them."""

    def __init__(self) -> None:
        self.links = Links()
        self.links.connect({"http://a/": 1, "http://b/": 600}.__getitem__)
        self.rows = [self._add(url) for url in ("http://a/", "http://b/")]
        self.reasons = Reasons(self.links)
        self.db = CrawlDb(":memory:").open()
        self.reasons.connect(self.db)

    def _add(self, url: str) -> int:
        finds = Finds([url], [0], {name: [0] for name in CODES})
        (row,) = self.links.add(PAGES[0], finds, [0])
        for page in PAGES[1:]:
            self.links.again(row, page, finds.one(0), PAGES[0])
        self.links.settle()
        return row

    def take(self, which: int, score: float) -> Explanation:
        """The explanation of a link that was fetched with this score."""
        entry = self.reasons.take(self.rows[which], score)
        self.db.keep("learned whys 0", entry)
        return explain(self._scored(which, score, fetched=True), self.db)

    def waits(self, which: int, score: float) -> Explanation:
        return explain(self._scored(which, score, fetched=False), self.db)

    def _scored(self, which: int, score: float, fetched: bool) -> Scored:
        return Scored(Link("http://a/"), score, fetched, number=self.links.ids[self.rows[which]])


@pytest.mark.parametrize("written", [False, True])
@given(st.lists(st.floats(-3, 3), min_size=SIZE, max_size=SIZE))
def test_parts_add_up_to_the_log_odds_of_the_score(written: bool, evidence: list[float]) -> None:
    kept, link = Kept(), weighed(*evidence)
    kept.reasons.keep([kept.rows[1]], [2], [link])
    if written:
        kept.reasons.write()
    told = kept.take(1, link.score)
    log_odds = sum(link.parts(), link.bias)
    assert sum(told.parts.values()) == pytest.approx(log_odds, abs=0.0006)
    largest = max(2.0, *map(abs, link.parts()))
    assert max(map(abs, told.parts.values())) == pytest.approx(largest, abs=0.0011)


def test_the_score_tells_which_of_several_pages_made_it() -> None:
    """A link found again on a page that promises less keeps its score, and what made it."""
    for score_of in (0, 1):
        kept, found = Kept(), (weighed(3.0), weighed(1.0))
        kept.reasons.keep([kept.rows[0]], [0], [found[0]])
        kept.reasons.write()
        kept.reasons.keep([kept.rows[0]], [1], [found[1]])
        score = found[score_of].score
        told = kept.take(0, score)
        assert sum(told.parts.values()) == pytest.approx(math.log(score / (1 - score)), abs=0.0006)


def test_a_new_score_replaces_the_old_one_and_other_links_keep_theirs() -> None:
    kept, old, new = Kept(), weighed(1.0), weighed(2.0)
    for row in kept.rows:
        kept.reasons.keep([row], [1], [old])
    kept.reasons.write()
    kept.reasons.keep([kept.rows[0]], [1], [new])
    kept.reasons.write()
    assert not kept.waits(0, old.score).parts
    log_odds = math.log(new.score / (1 - new.score))
    assert sum(kept.waits(0, new.score).parts.values()) == pytest.approx(log_odds, abs=0.0006)
    assert kept.waits(1, old.score).parts


def test_what_is_done_is_forgotten() -> None:
    kept, link = Kept(), weighed(1.0)
    for row in kept.rows:
        kept.reasons.keep([row], [1], [link])
    kept.reasons.write()
    entry_bytes = len(kept.db.noted("learned reasons 000000001")) // 2
    assert entry_bytes <= 92
    kept.links.take("http://b/")
    kept.reasons.keep([kept.rows[0]], [1], [link])
    kept.reasons.write()
    assert len(kept.db.noted("learned reasons 000000001")) == entry_bytes
    kept.reasons.keep([kept.rows[0]], [1], [link])
    assert kept.take(0, link.score).parts  # taken before it was written
    kept.links.release(kept.links.take("http://a/"))
    kept.reasons.write()
    assert kept.db.noted("learned reasons 000000001") == b""


def test_scores_that_no_evidence_made() -> None:
    kept = Kept()
    kept.reasons.keep([kept.rows[0]], [0], [None])
    kept.reasons.write()
    assert kept.waits(0, 1.0).because.startswith("the crawl is exploring")
    assert kept.take(0, 1.0).because.startswith("the crawl is exploring")
    assert kept.waits(1, 0.004).because.startswith("it is held back")
    assert kept.take(1, 0.004).because.startswith("nothing better was left")
    assert kept.take(1, 1.0).because == "a sitemap, a search or a link that was redirected to it gave it this score"


def test_what_was_weighed_keeps_the_weights_of_its_time() -> None:
    weights = Weights(PRIOR, -2.0)
    before = weights.weigh([1.0] * SIZE)
    parts = list(before.parts())
    weights.step([1.0] * SIZE, 1.0, 0.1, 0.2)
    assert list(before.parts()) == parts
    assert before.bias == -2.0
    assert weights.weigh([1.0] * SIZE).score > before.score


def test_without_a_database_nothing_is_piled_up() -> None:
    reasons = Reasons(Links())
    while not reasons.is_full():
        reasons.keep([1], [1], [weighed(1.0)])
    reasons.write()
    assert not reasons.is_full()
