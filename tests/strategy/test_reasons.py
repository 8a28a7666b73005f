"""What made a score is kept until the link was visited: exact to a thousandth, compact, and only as long as needed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import urls
from lycosa.db import CrawlDb
from lycosa.strategy.evidence import PRIOR
from lycosa.strategy.online import Weighed, Weights
from lycosa.strategy.reasons import HELD, OUTSIDE, TURN, Reasons, explain
from lycosa.types import Link, Scored

HOME, OTHER = "http://a.example/", "http://a.example/x"
SIZE = len(PRIOR)


def weighed(*evidence: float) -> Weighed:
    return Weights(PRIOR, -2.0).weigh([*evidence, *[0.0] * (SIZE - len(evidence))])


def ready() -> Reasons:
    reasons = Reasons()
    reasons.db = CrawlDb(":memory:").open()
    return reasons


def waiting(reasons: Reasons, url: str, score: float) -> float | None:
    """The sum of what `why` tells of a link that waits."""
    told = explain(Scored(Link(url), score, fetched=False), reasons.db)
    return sum(told.parts.values()) if told.parts else None


@pytest.mark.parametrize("written", [False, True])
@given(st.lists(st.floats(-3, 3), min_size=SIZE, max_size=SIZE))
def test_parts_add_up_to_the_log_odds_of_the_score(written: bool, evidence: list[float]) -> None:
    reasons, link = ready(), weighed(*evidence)
    reasons.keep(4, HOME, link)
    if written:
        reasons.write(set())
    parts = reasons.told(HOME, link.score, [2, 4], turn=False)
    assert not isinstance(parts, str)
    log_odds = sum(link.parts(), link.bias)
    assert sum(parts) == round(1_000 * log_odds) or abs(log_odds) > 32
    for part, exact in zip(parts[1:], link.parts(), strict=True):
        assert part == pytest.approx(1_000 * exact, abs=1.01)


def test_a_sum_out_of_range_is_as_good_as_certain() -> None:
    reasons, link = ready(), weighed(*[90.0] * 3)
    reasons.keep(1, HOME, link)
    reasons.write(set())
    parts = reasons.told(HOME, link.score, [1], turn=False)
    assert not isinstance(parts, str)
    assert sum(parts) == 32_767
    assert link.score == pytest.approx(1.0)


def test_the_score_tells_which_of_several_pages_made_it() -> None:
    """A link found again on a page that promises less keeps its score, and what made it."""
    reasons, better, worse = ready(), weighed(3.0), weighed(1.0)
    reasons.keep(1, HOME, better)
    reasons.write(set())
    reasons.keep(2, HOME, worse)
    for link in (better, worse):
        parts = reasons.told(HOME, link.score, [1, 2], turn=False)
        assert sum(parts) == round(1_000 * math.log(link.score / (1 - link.score)))  # type: ignore[arg-type]


def test_a_new_score_replaces_the_old_one_and_other_links_keep_theirs() -> None:
    reasons, old, new = ready(), weighed(1.0), weighed(2.0)
    reasons.keep(1, HOME, old)
    reasons.keep(1, OTHER, old)
    reasons.write(set())
    reasons.keep(1, HOME, new)
    assert reasons.told(HOME, old.score, [1], turn=False) == OUTSIDE
    reasons.write(set())
    assert waiting(reasons, HOME, old.score) is None
    assert waiting(reasons, HOME, new.score) == pytest.approx(math.log(new.score / (1 - new.score)), abs=0.0006)
    assert waiting(reasons, OTHER, old.score) is not None


def test_what_is_done_is_forgotten() -> None:
    reasons, link = ready(), weighed(1.0)
    for url in (HOME, OTHER):
        reasons.keep(1, url, link)
    reasons.write({urls.fingerprint(OTHER)})
    assert len(reasons.db.noted("learned reasons 000000001")) == 80
    reasons.keep(1, OTHER, link)
    reasons.write({urls.fingerprint(HOME), urls.fingerprint(OTHER)})
    assert reasons.db.noted("learned reasons 000000001") == ""


def test_scores_that_no_evidence_made() -> None:
    reasons = ready()
    assert reasons.told(HOME, 1.0, [1], turn=True) == TURN
    assert reasons.told(HOME, 0.004, [1], turn=False) == HELD
    assert reasons.told(HOME, 1.0, [1], turn=False) == OUTSIDE  # a sitemap's
    told = explain(Scored(Link(HOME), 0.004, fetched=False), reasons.db)
    assert told.because.startswith("it is held back")


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
        reasons.keep(1, HOME, weighed(1.0))
    reasons.write(set())
    assert not reasons.is_full()
