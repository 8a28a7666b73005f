"""Does a strategy keep to what the crawler relies on? Plain checks for tests, ours and anyone's:

    def test_my_strategy():
        check_strategy(MyStrategy)

`check_strategy` raises AssertionError and says what is wrong. It needs no network, no files and no test framework.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import msgspec

from lycosa.types import (
    SEED_SCORE,
    Explains,
    Explanation,
    Link,
    Page,
    Reply,
    Scored,
    Stateful,
    Strategy,
    Verdict,
    Visit,
)

SCORES = (0.0, 0.25, 0.5, 1.0, 3.0, 140.0)
_HOSTS = ("a.example", "b.example", "c.example")
_WORDS = ("crawler", "index", "web", "weather", "caf\u00e9", "2009", "\u8718\u86db", "the")
_CLASSES = ("CH", "DH", "PH", "SP")


def check_strategy(make: Callable[[], Strategy], resume: Callable[[Strategy], Strategy] | None = None) -> None:
    """All checks. `make` gives a new strategy, ready for its first visit, each time it is called.

    `resume` gives one that is to go on where the given one was, if that takes more than `make` and `load`.
    """
    check_form(make)
    check_scores(make)
    check_odd_visits(make)
    check_merge(make)
    check_repeatable(make)
    check_restart(make, resume or (lambda _: make()))
    check_explanation(make)


def check_form(make: Callable[[], Strategy]) -> None:
    """The keys of [strategy] in crawl.toml are the fields of a dataclass."""
    strategy = make()
    name = type(strategy).__name__
    assert dataclasses.is_dataclass(strategy), f"{name} is no dataclass: crawl.toml could not fill its fields"
    for field in dataclasses.fields(strategy):
        has_default = dataclasses.MISSING is not field.default or dataclasses.MISSING is not field.default_factory
        assert field.init or has_default, f"{name}.{field.name} is learned, so it needs a default to start from"
    for method in ("score", "merge", "learn"):
        assert callable(getattr(strategy, method, None)), f"{name} has no method {method}"
    both = callable(getattr(strategy, "save", None)), callable(getattr(strategy, "load", None))
    assert both[0] == both[1], f"{name} has only one of save and load"
    assert make() is not strategy, "make() must give a new strategy each time"


def check_scores(make: Callable[[], Strategy]) -> None:
    """One finite number for each link of a page, in the order of the links; below zero means dropped."""
    strategy = make()
    for visit in web():
        scores = turn(strategy, visit)
        links = len(visit.page.links)
        assert len(scores) == links, f"{len(scores)} scores for the {links} links of {visit.reply.link.url}"
        for link, score in zip(visit.page.links, scores, strict=True):
            assert isinstance(score, int | float), f"the score of {link.url} is no number: {score!r}"
            assert math.isfinite(score), f"the score of {link.url} is not finite: {score}"
            assert score < SEED_SCORE, f"the score of {link.url} is as high as a seed's: {score}"


def check_odd_visits(make: Callable[[], Strategy]) -> None:
    """Failures, duplicates and empty pages come as the first visit too, and the same page may come twice."""
    for visit in [*odd_visits(), *web()[:1]]:
        strategy = make()
        for _ in range(2):
            scores = turn(strategy, visit)
            what = visit.reply.error or visit.duplicate_of or "a page"
            assert len(scores) == len(visit.page.links), f"{len(scores)} scores where there are no links ({what})"


def check_merge(make: Callable[[], Strategy]) -> None:
    """A URL found again is never worth less than the least it was found with, and a seed stays one.

    Of two later finds it does not matter which came first.
    """
    strategy = make()
    for waiting in SCORES:
        for found in SCORES:
            merged = strategy.merge(waiting, found)
            case = f"merge({waiting}, {found}) is {merged}"
            assert isinstance(merged, int | float), f"{case}: no number"
            assert math.isfinite(merged), f"{case}: not finite"
            assert merged >= min(waiting, found), f"{case}: less than either"
            for third in SCORES:
                one, other = strategy.merge(merged, third), strategy.merge(strategy.merge(waiting, third), found)
                same = math.isclose(one, other, abs_tol=1e-9)
                assert same, f"{waiting}, then {found} and {third}, merge to {one} or {other} by their order"
        seed = strategy.merge(SEED_SCORE, waiting)
        assert seed >= SEED_SCORE, f"a waiting seed that is found again with {waiting} is worth only {seed}"


def check_repeatable(make: Callable[[], Strategy]) -> None:
    """The same visits give the same scores: chance must be seeded, time is not the strategy's business."""
    one, other = make(), make()
    for visit in web():
        first, second = list(turn(one, visit)), list(turn(other, visit))
        assert first == second, f"two runs over the same visits score the links of {visit.reply.link.url} differently"


def check_restart(make: Callable[[], Strategy], resume: Callable[[Strategy], Strategy]) -> None:
    """After a restart a strategy goes on as if nothing had happened: what it learned is in its saved state."""
    visits = web()
    for cut in (0, 1, len(visits) // 2):
        strategy = make()
        for visit in visits[:cut]:
            turn(strategy, visit)
        restarted = resume(strategy)
        if isinstance(strategy, Stateful):
            assert isinstance(restarted, Stateful)
            state = strategy.save()
            assert isinstance(state, dict), f"save() gives a {type(state).__name__}, not a dict"
            plain = msgspec.json.decode(msgspec.json.encode(state))
            restarted.load(plain)
            assert msgspec.json.decode(msgspec.json.encode(restarted.save())) == plain, "load() does not undo save()"
        for visit in visits[cut:]:
            before, after = list(turn(strategy, visit)), list(turn(restarted, visit))
            lost = "what save() gave" if isinstance(strategy, Stateful) else "without save and load"
            assert before == after, f"after a restart {lost} does not suffice: other scores at {visit.reply.link.url}"


def check_explanation(make: Callable[[], Strategy]) -> None:
    """A strategy that can explain a score does so without having seen the crawl, and whoever named the link."""
    strategy = make()
    if not isinstance(strategy, Explains):
        return
    page, found = Verdict(0.7, True, "PH"), Link("http://a.example/p7", "http://a.example/p3", "web", 2)
    for link, source in ((found, page), (Link("http://a.example/"), None)):
        for fetched in (True, False):
            told = strategy.explain(Scored(link, 0.7, fetched, source), _NoNotes())
            assert isinstance(told, Explanation), f"explain() gives a {type(told).__name__}, not an Explanation"
            assert told.because, f"explain() does not say why {link.url} is worth what it is worth"
            assert math.isfinite(sum(told.parts.values())), f"the parts of {link.url} do not add up: {told.parts}"
            assert told.total or not told.parts, "explain() gives parts, but no name for their sum"


class _NoNotes:
    """A crawl.db in which the strategy left nothing."""

    def get(self, key: str, default: str = "") -> str:
        return default

    def noted(self, key: str) -> str:
        return ""

    def notes(self, prefix: str, containing: str | bytes = "") -> Sequence[tuple[str, str]]:
        return ()


def turn(strategy: Strategy, visit: Visit) -> Sequence[float]:
    """One turn of the crawl, as the loop does it."""
    strategy.learn(visit)
    return strategy.score(visit)


def web() -> list[Visit]:
    """A small crawl with some of everything, always the same."""
    pages = [_page(number) for number in range(12)]
    odd = odd_visits()
    return [*pages[:4], *odd[:3], *pages[4:8], *odd[3:], *pages[8:], pages[2]]


def odd_visits() -> list[Visit]:
    """What a strategy must take without harm."""
    link = Link("http://a.example/odd", "http://a.example/p0", "odd", 1)
    good = Reply(link, url=link.url, status=200, content_type="text/html", body=b"<p>", at=5.0)
    sitemap = Page(link.url, seeds=(Link("http://c.example/new"),))
    return [
        Visit(Reply(link, error="timeout", at=1.0), score=0.5),
        Visit(Reply(link, url=link.url, status=404, error="http-404", at=2.0), score=0.0),
        Visit(Reply(link, url=link.url, error="robots", at=3.0)),
        Visit(good, digest="d0", duplicate_of="http://a.example/p0", score=1.0),
        Visit(good, Page(link.url), Verdict(), score=0.5, digest="d1"),
        Visit(good, Page(link.url, words=("web", "index")), Verdict(0.9, True, "PH", {"PH": 1.0}), 0.5, "d2"),
        Visit(good, sitemap, score=SEED_SCORE),
    ]


def _page(number: int) -> Visit:
    """A page in the middle of a crawl; the first three are seeds, one in five was redirected, one has many links."""
    url = _url(number)
    seed = number < 3
    asked = Link(
        url, "" if seed else _url(number // 2), "" if seed else _WORDS[number % 8], 0 if seed else 1 + number // 4
    )
    answered = f"{url}?moved" if number % 5 == 4 else url
    text = tuple(_WORDS[(number * 3 + place * place) % 8] for place in range(40))
    links = tuple(_link(answered, text, number, place) for place in range(300 if number == 6 else 2 + number % 7))
    chances = [(number * 7 + place * 5) % 11 + 1 for place in range(4)]
    classes = {name: chance / sum(chances) for name, chance in zip(_CLASSES, chances, strict=True)}
    verdict = Verdict(classes["PH"], classes["PH"] > 0.4, max(classes, key=classes.__getitem__), classes, {"web": 0.1})
    reply = Reply(asked, url=answered, status=200, content_type="text/html", body=b"<html>", at=10.0 + number)
    page = Page(answered, f"page {number}", " ".join(text), text, links, simhash=number)
    return Visit(reply, page, verdict, SEED_SCORE if seed else 0.3, f"digest {number}")


def _link(source: str, text: Sequence[str], number: int, place: int) -> Link:
    """The first link of a page leads to itself; most lead to pages that others link to as well."""
    start = place % len(text)
    end = min(len(text), start + place % 3)
    url = source if place == 0 else _url(number + place)
    return Link(url, source, " ".join(text[start:end]), 2, start, end)


def _url(number: int) -> str:
    return f"http://{_HOSTS[number % 3]}/p{number}"
