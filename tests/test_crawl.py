"""One turn of the loop: what is fetched is parsed and judged once, and everybody hears of it together."""

from typing import Any

from lycosa.crawl import Crawl
from lycosa.types import SEED_SCORE, Link, Page, Reply, Verdict, Visit


class World:
    """Every part of a crawl in one, writing down what happens."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        self.replies = replies
        self.log: list[str] = []
        self.queue: list[Link] = []
        self.scores: dict[str, float] = {}

    def push(self, links: Any, scores: Any) -> None:
        for link, score in zip(links, scores, strict=True):
            self.log.append(f"push {link.url} {score:g}")
            if link.url not in self.scores:
                self.queue.append(link)
            self.scores[link.url] = score

    async def pop(self) -> Link | None:
        return self.queue.pop(0) if self.queue else None

    def done(self, reply: Reply) -> None:
        self.log.append(f"done {reply.link.url}{' again' if reply.again else ''}")

    def score(self, link: Any) -> Any:
        if isinstance(link, Visit):
            self.log.append(f"score {link.reply.link.url}")
            return [link.verdict.relevance] * len(link.page.links)
        return self.scores[link.url]

    def knows(self, link: Link) -> bool:
        return link.url in self.scores

    async def fetch(self, link: Link) -> Reply:
        self.log.append(f"fetch {link.url}")
        return self.replies[link.url]

    def parse(self, reply: Reply) -> Page:
        self.log.append(f"parse {reply.url}")
        if b"broken" in reply.body:
            raise ValueError("what a mess")
        if b"sitemap" in reply.body:
            return Page(reply.url, seeds=[Link("s")])
        return Page(reply.url, links=[Link(url) for url in reply.body.decode().split()])

    async def judge(self, page: Page) -> Verdict:
        self.log.append(f"judge {page.url}")
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


async def crawl(*replies: Reply, seeds: tuple[str, ...] = ("a",)) -> World:
    world = World({one.link.url: one for one in replies})
    parts: Any = world
    await Crawl(parts, parts, parts, parts, parts, [parts], lambda body: body.decode()).run(
        [Link(seed) for seed in seeds], workers=1
    )
    return world


async def test_a_turn_in_the_order_of_the_picture() -> None:
    world = await crawl(reply("a", b"b"), reply("b"))
    assert world.log[:9] == [
        f"push a {SEED_SCORE:g}",
        "fetch a",
        "parse a",
        "judge a",
        "learn a",
        "score a",
        "push b 0.5",
        "write a",
        "done a",
    ]
    assert [visit.score for visit in world.visits] == [SEED_SCORE, 0.5]


async def test_a_failure_is_learned_from_and_stored_but_not_parsed() -> None:
    world = await crawl(reply("a", error="http-404"))
    assert world.log[1:] == ["fetch a", "learn a", "score a", "write a", "done a"]


async def test_what_is_no_answer_yet_only_goes_back() -> None:
    world = await crawl(reply("a", again=True))
    assert world.log[1:] == ["fetch a", "done a again"]


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


async def test_a_sitemap_offers_seeds_and_is_not_judged() -> None:
    world = await crawl(reply("a", b"sitemap"), reply("s"))
    assert "push s 1" in world.log
    assert "judge a" not in world.log
    assert world.visits[0].digest == ""
