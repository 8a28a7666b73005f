"""One turn of the loop: what is fetched is parsed and judged once, and everybody hears of it together."""

from typing import Any

import pytest

from lycosa.crawl import Crawl
from lycosa.errors import PluginError
from lycosa.judging import MOST_FAILURES
from lycosa.types import Band, Deferred, Lease, Link, Page, Reply, Verdict, Visit


class World:
    """Every part of a crawl in one, writing down what happens."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        self.replies = replies
        self.log: list[str] = []
        self.queue: list[Link] = []
        self.scores: dict[str, float] = {}
        self.unjudgeable: set[str] = set()
        self.unparsable: set[str] = set()
        self.deferred = ""

    def push(self, links: Any, scores: Any, band: Band = Band.FOUND) -> None:
        for link, score in zip(links, scores, strict=True):
            self.log.append(f"push {link.url} {band.name.lower()} {score:g}")
            if link.url not in self.scores:
                self.queue.append(link)
            self.scores[link.url] = score

    async def pop(self) -> Lease | None:
        return Lease(self.queue.pop(0)) if self.queue else None

    def done(self, reply: Reply | Deferred) -> None:
        deferred = isinstance(reply, Deferred)
        self.log.append(f"done {reply.reply.link.url} later" if deferred else f"done {reply.link.url}")

    def score(self, link: Any, reached: Any = ()) -> Any:
        if isinstance(link, Visit):
            self.log.append(f"score {link.reply.link.url}")
            return [link.verdict.relevance] * len(link.page.links)
        return self.scores[link.url]

    def knows(self, link: Link) -> bool:
        return link.url in self.scores

    async def fetch(self, lease: Lease) -> Reply | Deferred:
        link = lease.link
        self.log.append(f"fetch {link.url}")
        reply = self.replies[link.url]
        return Deferred(reply, link.url) if link.url == self.deferred else reply

    def parse(self, reply: Reply) -> Page:
        self.log.append(f"parse {reply.url}")
        if b"broken" in reply.body or reply.url in self.unparsable:
            raise ValueError("what a mess")
        if b"sitemap" in reply.body:
            return Page(reply.url, listed=[Link("s")])
        return Page(reply.url, links=[Link(url) for url in reply.body.decode().split()])

    async def judge(self, page: Page) -> Verdict:
        self.log.append(f"judge {page.url}")
        if page.url in self.unjudgeable:
            raise OSError("no such model")
        return Verdict(0.5, True)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        self.log.append(f"learn {visit.reply.link.url}")

    def write(self, visit: Visit) -> None:
        self.visits = [*getattr(self, "visits", []), visit]
        self.log.append(f"write {visit.reply.link.url}")


def reply(url: str, body: bytes = b"", **more: Any) -> Reply:
    return Reply(Link(url), url=url, status=200, body=body, **more)


async def crawl(
    *replies: Reply, seeds: tuple[str, ...] = ("a",), unparsable: str = "", unjudgeable: str = "", deferred: str = ""
) -> World:
    world = World({one.link.url: one for one in replies})
    world.deferred = deferred
    world.unparsable, world.unjudgeable = set(unparsable.split()), set(unjudgeable.split())
    parts: Any = world
    await Crawl(parts, parts, parts, parts, parts, [parts], lambda body: body.decode()).run(
        [Link(seed) for seed in seeds], workers=1
    )
    return world


async def test_a_turn_in_the_order_of_the_picture() -> None:
    world = await crawl(reply("a", b"b"), reply("b"))
    assert world.log[:10] == [
        "push a first 0",
        "fetch a",
        "parse a",
        "judge a",
        "learn a",  # the judge
        "learn a",  # the strategy
        "score a",
        "push b found 0.5",
        "write a",
        "done a",
    ]
    assert [visit.score for visit in world.visits] == [0.0, 0.5]


async def test_a_failure_is_learned_from_and_stored_but_not_parsed() -> None:
    world = await crawl(reply("a", error="http-404"))
    assert world.log[1:] == ["fetch a", "learn a", "learn a", "score a", "write a", "done a"]


async def test_what_is_no_answer_yet_only_goes_back() -> None:
    world = await crawl(reply("a"), deferred="a")
    assert world.log[1:] == ["fetch a", "done a later"]


async def test_the_same_body_is_recorded_but_neither_judged_nor_followed_again() -> None:
    world = await crawl(
        reply("a", b"x y"),
        reply("b", b"x y"),
        reply("x"),
        reply("y", b"z"),
        reply("z", b"zz"),
        reply("zz", b"-"),
        reply("-", b"--"),
        reply("--", b"a"),
        seeds=("a", "b"),
    )
    assert world.log.count("judge b") == 0
    twin = next(visit for visit in world.visits if visit.reply.link.url == "b")
    assert twin.duplicate_of == "a"
    assert twin.digest == "x y"
    assert not twin.page.links


async def test_a_page_that_breaks_the_parser_does_not_break_the_crawl() -> None:
    world = await crawl(reply("a", b"broken"), reply("b", b"c"), reply("c"), seeds=("a", "b"))
    broken = world.visits[0].reply
    assert (broken.error, broken.detail) == ("parse", "ValueError: what a mess")
    assert "judge b" in world.log


async def test_a_sitemap_offers_links_and_is_not_judged() -> None:
    world = await crawl(reply("a", b"sitemap"), reply("s"))
    assert "push s found 0.5" in world.log  # like the links of a page that nobody has judged
    assert "judge a" not in world.log
    assert world.visits[0].digest == ""


@pytest.mark.parametrize("stage", ["unparsable", "unjudgeable"])
async def test_nothing_is_a_duplicate_of_a_failure(stage: str) -> None:
    broken: dict[str, Any] = {stage: "a"}
    world = await crawl(
        reply("a", b"x"), reply("b", b"x"), reply("c", b"x"), reply("x"), seeds=("a", "b", "c"), **broken
    )
    failed, page, twin = world.visits[:3]
    assert failed.reply.error
    assert not failed.digest
    assert (page.duplicate_of, page.verdict.on_topic) == ("", True)
    assert twin.duplicate_of == "b"


async def test_a_bug_in_the_judge_is_named_as_such_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    urls = [f"p{number}" for number in range(30)]
    pages = [reply(url, f"{url} x".encode()) for url in urls]
    world = await crawl(reply("fine"), *pages, reply("x"), seeds=("fine", *urls), unjudgeable=" ".join(urls))
    broken = [visit.reply for visit in world.visits if visit.reply.error]
    assert len(broken) == 30
    assert {one.error for one in broken} == {"judge"}
    assert broken[0].detail == f"{World.__module__}: OSError: no such model"
    (record,) = caplog.records
    assert World.__module__ in record.getMessage()
    assert record.exc_info


async def test_a_judge_that_fails_on_every_page_ends_the_crawl() -> None:
    urls = [f"p{number}" for number in range(MOST_FAILURES + 5)]
    with pytest.raises(ExceptionGroup) as caught:
        await crawl(*(reply(url, url.encode()) for url in urls), seeds=tuple(urls), unjudgeable=" ".join(urls))
    (error,) = caught.value.exceptions
    assert isinstance(error, PluginError)
    assert (error.part, error.module) == ("judge", World.__module__)
    assert f"on each of the first {MOST_FAILURES} pages" in error.problem


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        ([0.5], "1 scores for 2 links"),
        ([0.5, 0.5, 0.5], "3 scores for 2 links"),
        ([0.5, float("nan")], "not finite"),
        ([0.5, float("inf")], "not finite"),
        ([0.5, None], "not numbers"),
        (None, "not numbers: None"),
    ],
)
async def test_a_strategy_that_returns_nonsense_is_named(scores: Any, problem: str) -> None:
    world: Any = World({"a": reply("a", b"b c"), "b": reply("b"), "c": reply("c")})

    class Odd(World):
        def score(self, link: Any, reached: Any = ()) -> Any:
            return scores

    strategy: Any = Odd({})
    crawl = Crawl(world, world, world, world, strategy, [world], lambda body: body.decode())
    with pytest.raises(ExceptionGroup) as caught:
        await crawl.run([Link("a")], workers=1)
    (error,) = caught.value.exceptions
    assert isinstance(error, PluginError)
    assert (error.part, error.module) == ("strategy", Odd.__module__)
    assert problem in error.problem
    assert not [line for line in world.log if line.startswith(("push b", "write"))]


@pytest.mark.parametrize(
    ("verdict", "problem"),
    [(None, "judge returned None, not a Verdict"), (0.7, "not a Verdict"), (Verdict(float("nan")), "relevance of nan")],
)
async def test_a_judge_that_returns_nonsense_is_named(verdict: Any, problem: str) -> None:
    class Odd(World):
        async def judge(self, page: Page) -> Any:
            return verdict

    world: Any = World({"a": reply("a", b"b")})
    crawl = Crawl(world, world, world, Odd({}), world, [world], lambda body: body.decode())  # type: ignore[arg-type]
    await crawl.run([Link("a")], workers=1)
    (visit,) = world.visits
    assert visit.reply.error == "judge"
    assert problem in visit.reply.detail
