"""Checks for strategies."""

import math
from collections.abc import Callable, Sequence

from lycosa.contract.form import check_form, hand_over
from lycosa.contract.samples import odd_visits, web
from lycosa.types import Explains, Explanation, Link, Reports, Scored, Strategy, Verdict, Visit

SCORES = (0.0, 0.25, 0.5, 1.0, 3.0, 140.0)


def check_strategy(make: Callable[[], Strategy], resume: Callable[[Strategy], Strategy] | None = None) -> None:
    """Run all checks. `make` returns a new strategy, ready for its first visit.

    `resume` returns a strategy that continues from the given one, if that takes more than `make` and `load`.
    """
    check_form(make, ("score", "merge", "learn"))
    check_scores(make)
    check_odd_visits(make)
    check_merge(make)
    check_repeatable(make)
    check_restart(make, resume or (lambda _: make()))
    check_explanation(make)
    check_report(make)


def check_scores(make: Callable[[], Strategy]) -> None:
    """One finite number per link of a page, in the order of the links; a link with a negative score is dropped."""
    strategy = make()
    for visit in web():
        scores = turn(strategy, visit)
        links = len(visit.page.links)
        assert len(scores) == links, f"{len(scores)} scores for the {links} links of {visit.reply.link.url}"
        for link, score in zip(visit.page.links, scores, strict=True):
            assert isinstance(score, int | float), f"the score of {link.url} is not a number: {score!r}"
            assert math.isfinite(score), f"the score of {link.url} is not finite: {score}"


def check_odd_visits(make: Callable[[], Strategy]) -> None:
    """The first visit may be a failure, a duplicate or an empty page, and the same page may come twice."""
    for visit in [*odd_visits(), *web()[:1]]:
        strategy = make()
        for _ in range(2):
            scores = turn(strategy, visit)
            what = visit.reply.error or visit.duplicate_of or "a page"
            assert len(scores) == len(visit.page.links), f"{len(scores)} scores for a visit without links ({what})"


def check_merge(make: Callable[[], Strategy]) -> None:
    """The merged score of a URL is never below the lowest score it was found with.

    The order of two later finds does not matter.
    """
    strategy = make()
    for waiting in SCORES:
        for found in SCORES:
            merged = strategy.merge(waiting, found)
            case = f"merge({waiting}, {found}) is {merged}"
            assert isinstance(merged, int | float), f"{case}: not a number"
            assert math.isfinite(merged), f"{case}: not finite"
            assert merged >= min(waiting, found), f"{case}: less than either"
            for third in SCORES:
                one, other = strategy.merge(merged, third), strategy.merge(strategy.merge(waiting, third), found)
                same = math.isclose(one, other, abs_tol=1e-9)
                assert same, f"{waiting}, then {found} and {third}, merge to {one} or {other} depending on their order"


def check_repeatable(make: Callable[[], Strategy]) -> None:
    """The same visits give the same scores: randomness must be seeded, and scores must not depend on time."""
    one, other = make(), make()
    for visit in web():
        first, second = list(turn(one, visit)), list(turn(other, visit))
        assert first == second, f"two runs over the same visits score the links of {visit.reply.link.url} differently"


def check_restart(make: Callable[[], Strategy], resume: Callable[[Strategy], Strategy]) -> None:
    """After a restart a strategy continues as if nothing had happened: what it learned is in its saved state."""
    visits = web()
    for cut in (0, 1, len(visits) // 2):
        strategy = make()
        for visit in visits[:cut]:
            turn(strategy, visit)
        restarted = resume(strategy)
        kept = hand_over(strategy, restarted)
        for visit in visits[cut:]:
            before, after = list(turn(strategy, visit)), list(turn(restarted, visit))
            assert before == after, f"after a restart {kept} is not enough: the scores at {visit.reply.link.url} differ"


def check_explanation(make: Callable[[], Strategy]) -> None:
    """A strategy that explains scores can do so without having seen the crawl, wherever the link came from."""
    strategy = make()
    if not isinstance(strategy, Explains):
        return
    page, found = Verdict(0.7, True, "PH"), Link("http://a.example/p7", "http://a.example/p3", "web", 2)
    for link, source in ((found, page), (Link("http://a.example/"), None)):
        for fetched in (True, False):
            told = strategy.explain(Scored(link, 0.7, fetched, source), _NoNotes())
            assert isinstance(told, Explanation), f"explain() returned a {type(told).__name__}, not an Explanation"
            assert told.because, f"explain() gives no reason for the score of {link.url}"
            assert math.isfinite(sum(told.parts.values())), f"the parts of {link.url} do not add up: {told.parts}"
            assert told.total or not told.parts, "explain() returned parts, but no name for their sum"


def check_report(make: Callable[[], Strategy]) -> None:
    """A strategy that reports what it has learned can do so at any time, even if it is nothing yet."""
    strategy = make()
    if not isinstance(strategy, Reports):
        return
    for visit in [None, *web()]:
        if visit:
            turn(strategy, visit)
        for heading, weights in strategy.learned().items():
            assert isinstance(heading, str), f"learned() has a heading that is not a string: {heading!r}"
            for name, weight in weights.items():
                assert isinstance(name, str), f"learned(): {heading}: {name!r} is not a string"
                assert math.isfinite(weight), f"learned(): {heading}: {name} is not finite: {weight}"


class _NoNotes:
    """A crawl.db in which the strategy has stored nothing."""

    def get(self, key: str, default: str = "") -> str:
        return default

    def noted(self, key: str) -> str:
        return ""

    def notes(self, prefix: str, containing: str | bytes = "") -> Sequence[tuple[str, str]]:
        return ()


def turn(strategy: Strategy, visit: Visit) -> Sequence[float]:
    """One turn of the crawl, as in the main loop."""
    strategy.learn(visit)
    return strategy.score(visit)
