"""What made a score can be told as long as the score holds, and after the link was visited: exact to a thousandth."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.store.db import CrawlDb
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.online_logistic import Weighed, Weights
from lycosa.strategy.reasons import Reasons, explain
from lycosa.types import BadInput, Explanation, Link, Scored

SIZE = len(PRIOR)
A, B = 1, 600  # ids of two URLs


def weighed(*evidence: float) -> Weighed:
    return Weights(PRIOR, -2.0).weigh([*evidence, *[0.0] * (SIZE - len(evidence))])


class Kept:
    """The reasons for the scores of links, and a database."""

    def __init__(self) -> None:
        self.reasons = Reasons()
        self.db = CrawlDb(":memory:").open()
        self.reasons.connect(self.db)

    def taken(self, number: int, score: float) -> Explanation:
        """The explanation of a link that was fetched with this score."""
        return explain(Scored(Link("http://a/"), score, fetched=True, number=number), self.db)

    def waits(self, number: int, score: float) -> Explanation:
        return explain(Scored(Link("http://a/"), score, fetched=False, number=number), self.db)


def log_odds(score: float) -> float:
    return math.log(score / (1 - score))


@given(st.lists(st.floats(-3, 3), min_size=SIZE, max_size=SIZE))
def test_parts_add_up_to_the_log_odds_of_the_score(evidence: list[float]) -> None:
    kept, link = Kept(), weighed(*evidence)
    kept.reasons.keep([B], [link])
    kept.reasons.write()
    told = kept.taken(B, link.score)
    assert sum(told.parts.values()) == pytest.approx(sum(link.parts(), link.bias), abs=0.0006)
    largest = max(2.0, *map(abs, link.parts()))
    assert max(map(abs, told.parts.values())) == pytest.approx(largest, abs=0.0011)


@pytest.mark.parametrize("at_once", [False, True])
def test_the_score_tells_which_reasons_hold(at_once: bool) -> None:
    """A link found again on a page that promises less keeps its score, and what made it."""
    kept, found = Kept(), (weighed(3.0), weighed(1.0))
    for one in found:
        kept.reasons.keep([A], [one])
        if not at_once:
            kept.reasons.write()
    kept.reasons.write()
    for one in found:
        for told in (kept.taken(A, one.score), kept.waits(A, one.score)):
            assert sum(told.parts.values()) == pytest.approx(log_odds(one.score), abs=0.0006)
    assert not kept.waits(B, found[0].score).parts


def test_of_equal_scores_the_latest_is_told() -> None:
    kept = Kept()
    one = weighed(1.0, 0.0)
    other = Weighed(one.score, [0.0, 1.0, *one.evidence[2:]], one.weights, one.bias)
    for link in (one, other):
        kept.reasons.keep([B, A], [link, weighed(2.0)])
        kept.reasons.write()
    assert "words around it" in kept.waits(B, one.score).parts


def test_scores_of_links_that_were_not_queued_are_not_kept() -> None:
    kept, link = Kept(), weighed(1.0)
    kept.reasons.keep([0, B], [link, link])
    kept.reasons.write()
    assert not kept.waits(0, link.score).parts
    assert kept.waits(B, link.score).parts


def test_each_note_has_its_own_place_and_is_small() -> None:
    kept, link = Kept(), weighed(1.0)
    kept.reasons.write()
    assert kept.reasons.count == 0, "there was nothing to write"
    for _ in range(2):
        kept.reasons.keep(range(1, 101), [link] * 100)
        kept.reasons.write()
    notes = dict(kept.db.notes("learned reasons "))
    assert [*notes] == ["000000000", "000000001"]
    assert max(map(len, notes.values())) < 100 * 60


def test_scores_that_no_evidence_made() -> None:
    kept = Kept()
    kept.reasons.keep([A, B], [None, weighed(1.0)])
    kept.reasons.write()
    assert kept.waits(A, 1.0).because.startswith("the crawl is exploring")
    assert kept.taken(A, 1.0).because.startswith("the crawl is exploring")
    assert not kept.taken(A, 1.0).parts
    assert kept.waits(B, 0.004).because.startswith("it is held back")
    assert kept.taken(B, 0.004).because.startswith("nothing better was left")
    assert kept.taken(B, 1.0).because == "a sitemap, a search or a link that was redirected to it gave it this score"


def test_notes_of_another_version_are_named() -> None:
    kept = Kept()
    for number, note in enumerate((bytes(92), b"")):
        kept.db.keep(f"learned reasons {number:09}", note)
        with pytest.raises(BadInput, match="another version"):
            kept.waits(A, 0.5)


def test_what_was_weighed_keeps_the_weights_of_its_time() -> None:
    weights = Weights(PRIOR, -2.0)
    before = weights.weigh([1.0] * SIZE)
    parts = list(before.parts())
    weights.step([1.0] * SIZE, 1.0, 0.1, 0.2)
    assert list(before.parts()) == parts
    assert before.bias == -2.0
    assert weights.weigh([1.0] * SIZE).score > before.score


def test_without_a_database_nothing_is_piled_up() -> None:
    reasons = Reasons()
    while not reasons.is_full():
        reasons.keep([A], [weighed(1.0)])
    reasons.write()
    assert not reasons.is_full()
