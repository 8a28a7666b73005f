"""Link context: the page and the words around the link, weighed."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from lycosa.strategy.link_context import LinkContext
from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit

WORDS = tuple(f"w{number}" for number in range(60))


class Share:
    """How many of the words are on the list?"""

    def __init__(self, *good: str) -> None:
        self.good = set(good)
        self.seen: list[Sequence[str]] = []

    def relevance_of(self, words: Sequence[str]) -> float:
        self.seen.append(tuple(words))
        return sum(word in self.good for word in words) / len(words) if words else 0.0


def ready(judge: Share, strategy: LinkContext | None = None) -> LinkContext:
    strategy = strategy or LinkContext()
    strategy.prepare(Path(), judge)
    return strategy


def visit_of(*places: tuple[int, int], relevance: float = 0.9, words: Sequence[str] = WORDS) -> Visit:
    links = tuple(Link(f"http://x/{start}", "http://x/", "", 1, start, end) for start, end in places)
    return Visit(Reply(Link("http://x/")), Page("http://x/", words=words, links=links), Verdict(relevance, True))


def test_a_quarter_of_the_page_and_three_quarters_of_the_context() -> None:
    """Page .9, context .4: .25 * .9 + .75 * .4 = .525."""
    judge = Share(*WORDS[21:29])  # 8 of the 20 words around the anchor
    assert ready(judge).score(visit_of((30, 32))) == pytest.approx([0.525])


@pytest.mark.parametrize(
    ("place", "first", "last"), [((30, 32), "w21", "w40"), ((1, 3), "w0", "w19"), ((58, 60), "w40", "w59")]
)
def test_twenty_words_are_centred_on_the_anchor(place: tuple[int, int], first: str, last: str) -> None:
    judge = Share()
    ready(judge).score(visit_of(place))
    (seen,) = judge.seen
    assert (seen[0], seen[-1], len(seen)) == (first, last, 20)


def test_an_anchor_longer_than_the_window_is_taken_whole() -> None:
    judge = Share()
    ready(judge).score(visit_of((10, 40)))
    assert judge.seen == [WORDS[10:40]]


def test_a_short_page_is_its_own_context() -> None:
    judge = Share("w1")
    assert ready(judge).score(visit_of((0, 1), words=WORDS[:4])) == pytest.approx([0.25 * 0.9 + 0.75 * 0.25])


@pytest.mark.parametrize(("beta", "expected"), [(0.0, 0.4), (1.0, 0.9), (0.5, 0.65)])
def test_beta_weighs_the_page(beta: float, expected: float) -> None:
    judge = Share(*WORDS[21:29])
    assert ready(judge, LinkContext(beta=beta)).score(visit_of((30, 32))) == pytest.approx([expected])


def test_each_link_has_its_own_words() -> None:
    judge = Share("w3", "w50")
    near, between, far = ready(judge, LinkContext(words=4)).score(visit_of((3, 4), (25, 26), (50, 51)))
    assert near == far > between == pytest.approx(0.225)


def test_the_best_find_counts() -> None:
    assert LinkContext().merge(0.2, 0.7) == LinkContext().merge(0.7, 0.2) == 0.7


def test_a_topic_that_cannot_judge_a_few_words_is_refused() -> None:
    with pytest.raises(BadInput, match=r"strategy\.kind: link-context needs a topic that can judge a few words"):
        LinkContext().prepare(Path(), object())


@pytest.mark.parametrize("options", [{"beta": 1.5}, {"beta": -0.1}, {"words": 0}, {"words": 2.5}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    (key,) = options
    with pytest.raises(msgspec.ValidationError, match=key):
        msgspec.convert(options, LinkContext)
    assert msgspec.convert({"beta": 0.5, "words": 10}, LinkContext) == LinkContext(0.5, 10)
