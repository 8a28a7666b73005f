"""What shards tell each other. Letters are durable: they are stored with the visit they come from, and applied once.
Everything else may be lost when a process is killed, and is sent again."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.control import Request
from lycosa.types import Band, Link, Origin, Page, Reply, Verdict, Visit

Found = tuple[str, str, int, int]  # URL and anchor of a link, and where the anchor is among the words of the page


class Fragment(Struct, frozen=True, array_like=True, tag=0):
    """A page, with those of its links that belong to the receiver, who scores and queues them."""

    source: Link
    reference: int  # of the page's URL
    url: str
    title: str
    language: str
    words: str
    relevance: float
    on_topic: bool
    label: str
    classes: dict[str, float]
    score: float
    depth: int
    origin: Origin
    given: list[float]  # by the strategy of the sender to that of the receiver
    links: list[Found]

    def visit(self) -> Visit:
        """As if the receiver had fetched the page, and it had no other links."""
        url, depth, origin = self.source.url, self.depth, self.origin
        links = [Link(to, url, anchor, depth, start, end, origin) for to, anchor, start, end in self.links]
        words = self.words.split(" ") if self.words else []
        page = Page(self.url, self.title, words=words, links=links, language=self.language)
        verdict = Verdict(self.relevance, self.on_topic, self.label, self.classes)
        return Visit(Reply(self.source, self.url, 200), page, verdict, self.score)


def fragment(visit: Visit, reference: int, words: str, given: list[float]) -> Fragment:
    """A visit with links of another shard only, to be sent there."""
    page, verdict, links = visit.page, visit.verdict, visit.page.links
    return Fragment(
        *(visit.reply.link, reference, page.url, page.title, page.language, words),
        *(verdict.relevance, verdict.on_topic, verdict.label, dict(verdict.classes), visit.score),
        *(links[0].depth, links[0].origin, given),
        [(link.url, link.anchor, link.start, link.end) for link in links],
    )


class Offer(Struct, frozen=True, array_like=True, tag=1):
    """Links that already have a score: found in a robots.txt, by a search engine, or where a redirect leads."""

    links: list[Link]
    scores: list[float]
    band: Band
    reference: int = 0  # of the page they were found on


class Claim(Struct, frozen=True, array_like=True, tag=2):
    """A body was stored under this URL."""

    digest: str
    url: str


class Lesson(Struct, frozen=True, array_like=True, tag=3):
    """What the judge, its correction by labels, the strategy or the recall estimate of another shard has learned since
    its last lesson."""

    part: str  # "judge", "labels", "strategy" or "recall"
    learned: dict[str, Any]


Letter = Fragment | Offer | Claim | Lesson


class Batch(Struct, frozen=True, array_like=True, tag="batch"):
    """Letters from one shard to another. Those of one sender are applied in the order of their numbers."""

    source: int
    target: int
    number: int
    body: bytes
    epoch: int = 0  # of the sender: those of a predecessor are refused


class Ack(Struct, frozen=True, array_like=True, tag="ack"):
    """All batches up to this number have been applied and committed."""

    source: int
    target: int  # who sent the batches
    number: int


class Ask(Struct, frozen=True, array_like=True, tag="ask"):
    """Where was this body seen first? If nowhere, then at this URL."""

    source: int
    target: int
    digest: str
    url: str


class Told(Struct, frozen=True, array_like=True, tag="told"):
    """The answer to a question."""

    source: int
    target: int
    digest: str
    asked: str  # the URL in the question
    url: str


class Query(Struct, frozen=True, array_like=True, tag="query"):
    """To the shard that queries the search engine for all."""

    source: int
    target: int
    query: str
    site: str
    most: int  # URLs in the result


class Hits(Struct, frozen=True, array_like=True, tag="hits"):
    """The result of a query."""

    source: int
    target: int
    query: str
    site: str
    urls: list[str]
    ready_at: float  # when the engine may be queried again


class Lend(Struct, frozen=True, array_like=True, tag="lend"):
    """Fetch a robots.txt that has moved to a host of the receiver."""

    source: int
    target: int
    url: str


class Lent(Struct, frozen=True, array_like=True, tag="lent"):
    """The response."""

    source: int
    target: int
    url: str
    status: int
    error: str
    detail: str  # of a redirect: where to
    body: bytes


class Answered(Struct, frozen=True, array_like=True, tag="answered"):
    """These hosts answer requests of the sender: they are no evidence of an outage."""

    source: int
    target: int
    urls: list[str]


class Status(Struct, frozen=True, array_like=True, tag="status"):
    """Where a shard stands."""

    shard: int
    best: list[tuple[int, int, int]] = []  # ranks of its best queued URLs in two parts, and how many have each; sorted
    pages: int = 0
    relevant: int = 0
    duplicates: int = 0
    in_flight: int = 0
    allotted: int = 0  # pages it may fetch in all
    version: int = 0  # of the last allotment received
    wants_pages: bool = False
    is_idle: bool = False  # nothing is queued, in flight, or on its way to other shards
    sent: list[int] = []  # number of the last batch to each shard
    applied: list[int] = []  # and from each shard
    probe: int = -1  # of the question this answers
    enough: str = ""  # why the crawl may end: the estimated recall has reached its limit


class News(Struct, frozen=True, array_like=True, tag="news"):
    """What a shard must know about the others."""

    least: tuple[int, int] = (0, 0)  # the rank a URL must have to be fetched next, in two parts
    remaining: int = -1  # pages until the limit, rounded down; -1 without one
    allotted: int = 0
    version: int = 0  # of the allotment; 0: none yet
    return_pages: bool = False  # give back what has not been used of the allotment
    probe: int = -1  # answer with a status


class Joined(Struct, frozen=True, array_like=True, tag="joined"):
    """A shard has started, and must be sent again what it has not acknowledged."""

    shard: int
    epoch: int = 0  # higher than that of its predecessors


class Over(Struct, frozen=True, array_like=True, tag="over"):
    """The crawl has ended."""

    why: str
    by_user: bool = False


class Order(Struct, frozen=True, array_like=True, tag="order"):
    """A request from another process, for the session of a shard."""

    number: int
    request: Request


class Done(Struct, frozen=True, array_like=True, tag="done"):
    """What came of a request."""

    shard: int
    number: int
    result: Any = None
    error: str = ""


class Report(Struct, frozen=True, array_like=True, tag="report"):
    """The summary of a shard, about once a second; the last one also has its outcome."""

    shard: int
    summary: dict[str, Any]
    is_last: bool = False
    skipped: list[str] = []  # invalid seeds


class Failed(Struct, frozen=True, array_like=True, tag="failed"):
    """A shard cannot go on, for a reason that a restart would not change."""

    shard: int
    problem: str
    exit_code: int = 2


Message = (
    Batch
    | Ack
    | Ask
    | Told
    | Query
    | Hits
    | Lend
    | Lent
    | Answered
    | Status
    | News
    | Joined
    | Over
    | Order
    | Done
    | Report
    | Failed
)

encode_letter = msgspec.msgpack.Encoder().encode
decode_letters = msgspec.msgpack.Decoder(list[Letter]).decode
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Message).decode


def pack(letters: Sequence[bytes]) -> bytes:
    """One body for letters that are encoded already."""
    return msgspec.msgpack.encode([msgspec.Raw(letter) for letter in letters])
