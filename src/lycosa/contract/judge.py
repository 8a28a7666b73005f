"""Checks for judges."""

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping, Sequence

from lycosa.contract.form import check_form, hand_over
from lycosa.contract.samples import web
from lycosa.judging import text_relevances
from lycosa.loops import blocking
from lycosa.types import Judge, Page, TextRelevance, Verdict


@blocking
def check_judge(make: Callable[[], Judge], pages: Sequence[Page] = ()) -> None:
    """Run all checks. `make` returns a new judge, ready to judge; `pages` are tried in addition to the suite's own."""
    check_form(make, ("judge",))
    assert inspect.iscoroutinefunction(make().judge), f"{type(make()).__name__}.judge is not an async method"
    asyncio.run(_check(make, [*sample_pages(), *pages]))
    check_text_relevance(make())


async def _check(make: Callable[[], Judge], pages: Sequence[Page]) -> None:
    await check_verdicts(make, pages)
    await check_repeatable(make, pages)
    await check_restart(make, pages)


async def check_verdicts(make: Callable[[], Judge], pages: Sequence[Page]) -> None:
    """Any page gets a verdict: empty pages, pages in other scripts, and whichever comes first."""
    judge = make()
    for page in pages:
        for one in (judge, make()):
            check_verdict(await one.judge(page), page.url)


def check_verdict(verdict: Verdict, url: str) -> None:
    assert isinstance(verdict, Verdict), f"judge() returned a {type(verdict).__name__}, not a Verdict"
    relevance = verdict.relevance
    assert isinstance(relevance, int | float), f"the relevance of {url} is not a number: {relevance!r}"
    assert 0 <= relevance <= 1, f"the relevance of {url} is not between 0 and 1: {relevance}"
    assert verdict.on_topic in (True, False), f"on_topic of {url} is neither true nor false: {verdict.on_topic!r}"
    assert isinstance(verdict.label, str), f"the label of {url} is not a string: {verdict.label!r}"
    for name, shares in (("classes", verdict.classes), ("why", verdict.why)):
        assert isinstance(shares, Mapping), f"{name} of {url} is not a mapping"
        for key, value in shares.items():
            assert isinstance(key, str), f"{name} of {url} has a key that is not a string: {key!r}"
            assert math.isfinite(value), f"{name} of {url}: {key} is not finite: {value}"
    assert all(0 <= chance <= 1 for chance in verdict.classes.values()), f"classes of {url} are not probabilities"


async def check_repeatable(make: Callable[[], Judge], pages: Sequence[Page]) -> None:
    """The same pages give the same verdicts: randomness must be seeded, and verdicts must not depend on time."""
    one, other = make(), make()
    for page in pages:
        same = await one.judge(page) == await other.judge(page)
        assert same, f"two judges that saw the same pages disagree on {page.url}"


async def check_restart(make: Callable[[], Judge], pages: Sequence[Page]) -> None:
    """After a restart a judge continues as if nothing had happened: what it learned is in its saved state."""
    for cut in (0, 1, len(pages) // 2):
        judge, restarted = make(), make()
        for page in pages[:cut]:
            await judge.judge(page)
        kept = hand_over(judge, restarted)
        for page in pages[cut:]:
            same = await judge.judge(page) == await restarted.judge(page)
            assert same, f"after a restart {kept} is not enough: the verdict on {page.url} differs"


def check_text_relevance(judge: Judge) -> None:
    """A judge that rates a few words does so for any words, with the same result one by one or in bulk."""
    if not isinstance(judge, TextRelevance):
        return
    texts: list[Sequence[str]] = [(), ("web",), ("web", "crawler", "index"), ("caf\u00e9", "\u8718\u86db")]
    found = text_relevances(judge, texts)
    assert len(found) == len(texts), f"{len(found)} relevances for {len(texts)} texts"
    for words, relevance in zip(texts, found, strict=True):
        assert 0 <= relevance <= 1, f"the relevance of {words} is not between 0 and 1: {relevance}"
        alone = judge.relevance_of(words)
        assert math.isclose(alone, relevance, abs_tol=1e-9), f"{words} alone: {alone}, among others: {relevance}"


def sample_pages() -> list[Page]:
    """Ordinary pages, and some that are hardly pages at all."""
    many = tuple(f"word{number}" for number in range(5_000))
    odd = [
        Page(),
        Page("http://a.example/empty"),
        Page("http://a.example/title", title="Web crawler"),
        Page("http://a.example/long", "long", " ".join(many), many),
        Page(
            "http://a.example/\u8718\u86db", "\u8718\u86db", "\u8718\u86db \U0001f577", ("\u8718\u86db",), language="ja"
        ),
    ]
    return [*(visit.page for visit in web() if visit.is_distinct), *odd]
