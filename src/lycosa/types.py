"""What travels through the crawler, and who may touch it. Read this first.

    seeds -> frontier -> fetch -> parse -> judge -> strategy -> frontier     each turn yields one Visit

Records are frozen; a stage makes a new one from what it was given. Every protocol is one arrow of the picture. The
first ones are what every crawl needs; those below "what some can do beside" are optional, and found by isinstance().
"""

from array import array
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

from lycosa.errors import BadInput as BadInput  # the one error that every reader of input raises

CONTEXT_WORDS = 20  # how many words around an anchor, itself included, are its context


class TooCostly(ValueError):
    """A page whose parsing takes more time or memory than any page may have."""


class Origin(IntEnum):
    """Who named a URL first."""

    PAGE = 0  # a page links to it
    SEED = 1  # the user
    ROBOTS = 2  # a robots.txt names it as a sitemap
    SITEMAP = 3  # a sitemap lists it
    SEARCH = 4  # a search engine


class Band(IntEnum):
    """What comes first whatever its score: a priority is a band and, within it, a score."""

    FOUND = 1  # scored by the strategy
    FIRST = 2  # somebody chose it: seeds, search results, sitemaps
    LISTED = 3  # on the fetch list of a strategy that fetches by lists


class Link(Struct, frozen=True, gc=False):
    """All we know of a page before we fetch it."""

    url: str  # absolute and canonical: its identity
    source: str = ""  # the page it was found on; empty if no page named it
    anchor: str = ""  # the words of the link as they stand on the page
    depth: int = 0  # clicks from a seed, along the path it was found by
    start: int = 0  # the anchor is words[start:end] of the source page, so the words around it are its context
    end: int = 0
    origin: Origin = Origin.PAGE

    @property
    def is_start(self) -> bool:
        """A seed, or what a search engine named: a crawl starts there, whatever is on the page."""
        return self.origin in (Origin.SEED, Origin.SEARCH)


class Lease(Struct, frozen=True, gc=False):
    """Permission for one request, at one host."""

    link: Link
    hop: str = ""  # where the link's redirects have led so far: what to fetch in its place
    at: str = ""  # the host whose turn it is, if not the link's own: that of the hop, or one that keeps a robots.txt


class Exchange(Struct, frozen=True, gc=False):
    """One request and its answer as they went over the wire; what the WARC keeps."""

    url: str
    request: bytes  # request line and headers
    head: bytes  # status line and headers of the answer, without transfer encoding
    payload: bytes  # the body as it came, still in its content encoding
    at: float  # when the request was sent, seconds since the epoch
    ip: str = ""


class Reply(Struct, frozen=True):
    """What the web answered; a failure is a Reply with an error."""

    link: Link
    url: str = ""  # where the redirects ended
    status: int = 0
    content_type: str = ""  # the header as it came, charset included
    body: bytes = b""  # decoded from its content encoding
    error: str = ""  # kind of failure, from a small vocabulary: timeout, dns, http-404, robots, too-large, ...
    detail: str = ""  # a few words more about the error, for people
    at: float = 0.0  # when it was asked, seconds since the epoch
    seconds: float = 0.0  # how long the answer took
    wait_s: float = 0.0  # the host asked to be left alone at least this long
    crawl_delay_s: float | None = None  # between two requests, as its host's robots.txt asks; None: nothing learned
    exchanges: tuple[Exchange, ...] = ()  # redirects first, the answer last
    robots_tag: str = ""  # the X-Robots-Tag header
    ip: str = ""  # the address that answered; empty behind a proxy


class Deferred(Struct, frozen=True):
    """Not an answer yet: the link goes back to the frontier and waits for another request."""

    reply: Reply  # what came instead; its host rests as it asks
    at: str  # the URL whose host the link waits for
    hop: str = ""  # where its redirects have led: what to fetch in its place


class Page(Struct, frozen=True):
    """A Reply we could read."""

    url: str = ""
    title: str = ""
    text: str = ""  # what a reader sees, without the title
    words: Sequence[str] = ()  # the text in lower case, split at everything that is no letter or digit
    links: Sequence[Link] = ()  # what may be followed: canonical, each URL once
    listed: Sequence[Link] = ()  # the URLs of a sitemap
    language: str = ""  # hint: two letters, or empty
    canonical: str = ""  # the address the page gives itself
    simhash: int = 0  # near duplicates differ in few bits

    def context(self, link: Link, size: int = CONTEXT_WORDS) -> Sequence[str]:
        """The `size` words centred on the link's anchor; where one side is short the other takes the rest."""
        around = max(0, size - (link.end - link.start))
        first = max(0, min(link.start - around // 2, len(self.words) - size))
        return self.words[first : max(first + size, link.end)]


class Verdict(Struct, frozen=True):
    """Is the page on topic, and why?"""

    relevance: float = 0.0  # 0..1
    on_topic: bool = False
    label: str = ""  # best class, where the topic has classes
    classes: Mapping[str, float] = {}  # probability of every class, where the topic has classes
    why: Mapping[str, float] = {}  # the terms or concepts that moved it most, signed, largest first
    model: str = ""  # the version of the judge that said so, where a judge has several in one crawl


class Visit(Struct, frozen=True):
    """One turn of the loop: all that sinks, console and lab ever see."""

    reply: Reply
    page: Page = Page()
    verdict: Verdict = Verdict()
    score: float = 0.0  # what the link was worth when its reply came; 0 for those that come first whatever their score
    digest: str = ""  # of the body
    duplicate_of: str = ""  # the URL that brought the same body before

    @property
    def is_page(self) -> bool:
        """The others are failures and sitemaps."""
        return bool(self.digest) and not self.reply.error

    @property
    def is_distinct(self) -> bool:
        """The first of all pages with the same body: only such pages are judged."""
        return self.is_page and not self.duplicate_of


class Clock(Protocol):
    """Time, passed in: the wall's, or the lab's own."""

    def now(self) -> float: ...
    def call_at(self, when: float, call: Callable[[], None]) -> "Timer": ...


class Timer(Protocol):
    def cancel(self) -> None: ...


class Fetcher(Protocol):
    """What a crawl uses. One call is one request, or none; what takes several is deferred in between."""

    async def fetch(self, lease: Lease) -> Reply | Deferred: ...


class Layer(Protocol):
    """One request for one URL, without robots.txt, retries and redirects: what plug-ins wrap."""

    async def fetch(self, link: Link) -> Reply: ...


class Parser(Protocol):
    def parse(self, reply: Reply) -> Page: ...


class CrawlParser(Protocol):
    """What a crawl uses: any parser, or one that gives something to wait for where parsing may take long."""

    def parse(self, reply: Reply) -> "Page | Awaitable[Page]": ...


class Judge(Protocol):
    async def judge(self, page: Page) -> Verdict: ...  # changes nothing; async, so that a heavy judge can batch


class Sink(Protocol):
    def write(self, visit: Visit) -> None: ...


class Strategy(Protocol):
    """What is a link worth? Higher is sooner."""

    def score(self, visit: Visit) -> Sequence[float]: ...  # one per link of the page; below zero: dropped
    def merge(self, waiting: float, found: float) -> float: ...  # the same URL was found again: max, sum, ...
    def learn(self, visit: Visit) -> None: ...  # from every visit, failures too


class Frontier(Protocol):
    """What waits, best first. Only `pop` ever waits; one lease is one request."""

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None: ...
    async def pop(self) -> Lease | None: ...  # None: nothing queued and nothing in flight, or a limit is reached
    def score(self, link: Link, reached: Sequence[str] = ()) -> float: ...  # and with it what redirects have reached
    def knows(self, link: Link) -> bool: ...
    def apply(self, effects: "Effects") -> None: ...
    def done(self, reply: Reply | Deferred) -> None: ...  # ends the lease that pop() began


# -- what some can do beside ------------------------------------------------------------------------------------------


@runtime_checkable
class Stateful(Protocol):
    """A judge or strategy whose learned state must survive a restart: plain data, written with the visits."""

    def save(self) -> dict[str, Any]: ...
    def load(self, state: dict[str, Any]) -> None: ...


@runtime_checkable
class Learns(Protocol):
    """A judge that learns from the crawl. It does so inside the turn, so that it has learned what is stored."""

    def learn(self, visit: Visit) -> None: ...  # every visit, failures too


Revised = Sequence[tuple[str, Verdict]]  # the URL of a page that was visited, and what the judge says of it now


@runtime_checkable
class Revises(Protocol):
    """A judge that may change its mind about pages it has judged. It is asked once a turn, when it has learned."""

    def revised(self) -> Revised: ...  # each change once; mostly nothing


@runtime_checkable
class Hears(Protocol):
    """A strategy or sink that wants to know what the judge has changed its mind about."""

    def hear(self, revised: Revised) -> None: ...


@runtime_checkable
class Remembers(Protocol):
    """A judge that keeps more than fits into `save`. `at_once`: its slow work is done within the turn, so that a crawl
    repeats exactly."""

    def connect(self, notes: "Notebook", at_once: bool) -> None: ...  # once, before anything else


@runtime_checkable
class TextRelevance(Protocol):
    """A judge that can tell from a few words, an anchor or the words around it, how relevant they are, 0..1."""

    def relevance_of(self, words: Sequence[str]) -> float: ...


def text_relevances(judge: TextRelevance, many: Sequence[Sequence[str]]) -> list[float]:
    """How relevant are some words, and some others, ...? A judge may have a cheaper way for all links of a page."""
    at_once: Callable[[Sequence[Sequence[str]]], list[float]] | None = getattr(judge, "relevances_of", None)
    return at_once(many) if at_once else [*map(judge.relevance_of, many)]


class Notes(Protocol):
    """What a judge or strategy left in crawl.db, to be read."""

    def get(self, key: str, default: str = "") -> str: ...
    def noted(self, key: str) -> Any: ...
    def notes(self, prefix: str, containing: str | bytes = "") -> Iterable[tuple[str, Any]]: ...


class Notebook(Notes, Protocol):
    """Where a judge or strategy keeps what is too much for `save`: one note at a time, written with the visit."""

    def note(self, key: str, value: str | bytes) -> None: ...  # text
    def keep(self, key: str, value: bytes) -> None: ...  # bytes


class Graph(NamedTuple):
    """All links found so far, as ids of their ends, and the ids of the URLs that wait."""

    sources: "array[int]"
    targets: "array[int]"
    waiting: "array[int]"


class View(Protocol):
    """What a strategy may know of the crawl. Known URLs have ids, counted from 1."""

    @property
    def notes(self) -> Notebook: ...
    def refuses(self, url: str, depth: int) -> str: ...  # why the scope refuses a URL; empty if it does not
    def number(self, url: str) -> int: ...  # its id; 0 if it is not known
    def waits(self, number: int) -> bool: ...  # and is not in flight
    def scores(self) -> "array[float]": ...  # of all URLs by id; not to be changed
    def host(self, number: int) -> str: ...
    def graph(self) -> Graph: ...
    def found_on(self, number: int) -> Mapping[int, str]: ...  # ids and hosts of what waits with a score of this page


class Effects(Struct, frozen=True):
    """What a strategy changes beside the scores of a page's links. Those named first are applied first."""

    scale: float = 1.0  # every score is multiplied by it
    offers: Sequence[Link] = ()  # further links ...
    offered: Sequence[float] = ()  # ... and their scores
    ids: Sequence[int] = ()  # URLs that get another score; those that no longer wait are passed over
    scores: Sequence[float] = ()
    hosts: Sequence[str] = ()  # of these URLs, if the strategy knows them: that saves looking them up
    floor: float | None = None  # what is worth less is held back while anything else waits
    job: Callable[[], None] | None = None  # slow work, done beside the crawl; `effects` is asked again after it


@runtime_checkable
class Acts(Protocol):
    """A strategy that does more than score the links of a page. It is asked for effects once a turn, when the page's
    links are queued."""

    def connect(self, view: View) -> Effects: ...  # once, before anything else: what holds from the start
    def effects(self) -> Effects: ...


@runtime_checkable
class Lists(Protocol):
    """A strategy that fetches by lists: the best `list_size` of one moment are fetched before any others are chosen."""

    list_size: int

    def first(self, found: float) -> float: ...  # what a URL waits with that was found for the first time
    def begin_list(self, scores: Sequence[float]) -> None: ...  # those of the chosen, best first
    def end_list(self) -> Effects: ...


@runtime_checkable
class Opens(Protocol):
    """A strategy that says what the seeds are worth; without it they come before everything else."""

    def open(self, seeds: Sequence[Link]) -> Sequence[float]: ...


@runtime_checkable
class Targets(Protocol):
    """A strategy that knows from its URL whether a page is a target, and what it is worth."""

    target_score: float  # what a target is worth

    def is_target(self, url: str) -> bool: ...
    def priority(self, url: str) -> float: ...


class Scored(Struct, frozen=True):
    """A link, its score, and what is known of the page that gave it: what a strategy is asked to explain."""

    link: Link
    score: float
    fetched: bool
    source: Verdict | None = None  # of the page it was found on
    from_seed: bool = False  # is that page a seed?
    number: int = 0  # the id of its URL in crawl.db


class Explanation(Struct, frozen=True):
    """Why a link has its score."""

    because: str  # goes on from "fetched because" and "its score is 0.5 because"
    parts: Mapping[str, float] = {}  # what was added up, if anything was
    total: str = ""  # what the sum of the parts is called


@runtime_checkable
class Explains(Protocol):
    """A strategy that can say why a link has its score. It is new, as crawl.toml describes it: it has neither met the
    judge nor loaded its state, so that an answer takes no time."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation: ...


@runtime_checkable
class Reports(Protocol):
    """A strategy that can tell what it has learned, for `lycosa show`: headings, and under each names with a weight.
    It is new, as crawl.toml describes it, with its saved state loaded."""

    def learned(self) -> Mapping[str, Mapping[str, float]]: ...
