"""The records that pass through the crawler, and the protocols of the stages that handle them. Read this first.

    seeds -> frontier -> fetch -> parse -> judge -> strategy -> frontier     each turn produces one Visit

Records are frozen; each stage builds a new one from its input. Every protocol is one arrow of the diagram. Every crawl
needs the first ones; those below "optional capabilities" are detected with isinstance().
"""

from array import array
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

from lycosa.errors import BadInput as BadInput  # raised by everything that reads user input

CONTEXT_WORDS = 20  # size of an anchor's context, in words, the anchor included


class Origin(IntEnum):
    """How a URL was first discovered."""

    PAGE = 0  # linked from a page
    SEED = 1  # given by the user
    ROBOTS = 2  # listed as a sitemap in a robots.txt
    SITEMAP = 3  # listed in a sitemap
    SEARCH = 4  # returned by a search engine


class Band(IntEnum):
    """A priority is a band and a score within that band; a higher band always comes first."""

    LAST = 0  # put last by the user: fetched when nothing else is left
    FOUND = 1  # scored by the strategy
    FIRST = 2  # explicitly requested: seeds, search results, sitemaps, what the user put first
    LISTED = 3  # on the fetch list of a strategy that uses fetch lists


class Link(Struct, frozen=True, gc=False):
    """Everything known about a page before it is fetched."""

    url: str  # absolute and canonical; identifies the page
    source: str = ""  # the page it was found on; empty if it was not found on a page
    anchor: str = ""  # the anchor text as it appears on the page
    depth: int = 0  # clicks from a seed, along the path it was found on
    start: int = 0  # the anchor is words[start:end] of the source page; the words around it are its context
    end: int = 0
    origin: Origin = Origin.PAGE

    @property
    def is_start(self) -> bool:
        """True for seeds and search results: a crawl starts there whatever is on the page."""
        return self.origin in (Origin.SEED, Origin.SEARCH)


class Lease(Struct, frozen=True, gc=False):
    """Permission to send one request to one host."""

    link: Link
    hop: str = ""  # the latest redirect target of the link, to be fetched in its place
    at: str = ""  # the host to contact, if not the link's own: that of the hop, or one that serves a robots.txt


class Exchange(Struct, frozen=True, gc=False):
    """One request and its response as sent over the wire; this is what the WARC stores."""

    url: str
    request: bytes  # request line and headers
    head: bytes  # status line and headers of the response, without transfer encoding
    payload: bytes  # the body as received, still in its content encoding
    at: float  # when the request was sent, seconds since the epoch
    ip: str = ""


class Reply(Struct, frozen=True):
    """The result of fetching a link; a failure is a Reply with an error."""

    link: Link
    url: str = ""  # the URL after redirects
    status: int = 0
    content_type: str = ""  # the header as received, charset included
    body: bytes = b""  # after decoding the content encoding
    error: str = ""  # kind of failure, from a small vocabulary: timeout, dns, http-404, robots, too-large, ...
    detail: str = ""  # a short description of the error for users
    at: float = 0.0  # when the request was sent, seconds since the epoch
    seconds: float = 0.0  # response time
    wait_s: float = 0.0  # the host asked for a pause of at least this length
    crawl_delay_s: float | None = None  # the crawl delay in the host's robots.txt; None if not known
    exchanges: tuple[Exchange, ...] = ()  # redirects first, the final response last
    robots_tag: str = ""  # the X-Robots-Tag header
    ip: str = ""  # the IP address that responded; empty behind a proxy


class Deferred(Struct, frozen=True):
    """No final reply yet: the link returns to the frontier and waits for another request."""

    reply: Reply  # the response so far; its host rests as long as it asked for
    at: str  # the URL whose host the link waits for
    hop: str = ""  # the latest redirect target, to be fetched in place of the link


class Page(Struct, frozen=True):
    """A Reply that was parsed."""

    url: str = ""
    title: str = ""
    text: str = ""  # the visible text, without the title
    words: Sequence[str] = ()  # the text in lower case, split at every character that is not a letter or digit
    links: Sequence[Link] = ()  # links that may be followed: canonical, without duplicates
    listed: Sequence[Link] = ()  # the URLs in a sitemap
    language: str = ""  # a hint: two letters, or empty
    canonical: str = ""  # the page's own canonical URL
    simhash: int = 0  # near duplicates differ in only a few bits

    def context(self, link: Link, size: int = CONTEXT_WORDS) -> Sequence[str]:
        """The `size` words centred on the link's anchor; if one side is short, the other is extended."""
        around = max(0, size - (link.end - link.start))
        first = max(0, min(link.start - around // 2, len(self.words) - size))
        return self.words[first : max(first + size, link.end)]


class Verdict(Struct, frozen=True):
    """Whether a page is on topic, and why."""

    relevance: float = 0.0  # 0..1
    on_topic: bool = False
    label: str = ""  # the best class, if the topic has classes
    classes: Mapping[str, float] = {}  # probability of each class, if the topic has classes
    why: Mapping[str, float] = {}  # the terms or concepts with the most influence, signed, largest first
    model: str = ""  # the version of the judge, if it has several versions within one crawl
    uncorrected: float | None = None  # relevance before a person's labels corrected it

    @property
    def steering_relevance(self) -> float:
        """For strategies: lists lead to the topic even if labels have taught that they are not on it themselves."""
        return self.relevance if self.uncorrected is None else max(self.relevance, self.uncorrected)


class Visit(Struct, frozen=True):
    """One turn of the loop: everything that sinks, the console and the lab get to see."""

    reply: Reply
    page: Page = Page()
    verdict: Verdict = Verdict()
    score: float = 0.0  # score of the link when its reply arrived; 0 for links that come first regardless of score
    digest: str = ""  # of the body
    duplicate_of: str = ""  # the URL where the same body was fetched before

    @property
    def is_page(self) -> bool:
        """False for failures and sitemaps."""
        return bool(self.digest) and not self.reply.error

    @property
    def is_distinct(self) -> bool:
        """True for the first page with a given body: only such pages are judged."""
        return self.is_page and not self.duplicate_of


class Clock(Protocol):
    """The time source, passed in: wall-clock time, or simulated time in the lab."""

    def now(self) -> float: ...
    def call_at(self, when: float, call: Callable[[], None]) -> "Timer": ...


class Timer(Protocol):
    def cancel(self) -> None: ...


class Fetcher(Protocol):
    """The crawl's interface to the web. One call sends at most one request; links that need several are deferred."""

    async def fetch(self, lease: Lease) -> Reply | Deferred: ...


class Layer(Protocol):
    """One request for one URL, without robots.txt, retries and redirects: this is what plug-ins wrap."""

    async def fetch(self, link: Link) -> Reply: ...


class Parser(Protocol):
    def parse(self, reply: Reply) -> Page: ...


class CrawlParser(Protocol):
    """The parser of a crawl: any Parser, or one that returns an awaitable where parsing may take long."""

    def parse(self, reply: Reply) -> "Page | Awaitable[Page]": ...


class Judge(Protocol):
    async def judge(self, page: Page) -> Verdict: ...  # does not change the judge; async, so that it can batch


class Sink(Protocol):
    def write(self, visit: Visit) -> None: ...  # sinks of plug-ins may also have open(folder) and close()


class Strategy(Protocol):
    """Scores links; a link with a higher score is fetched sooner."""

    def score(self, visit: Visit) -> Sequence[float]: ...  # one per link of the page; negative: discarded
    def merge(self, waiting: float, found: float) -> float: ...  # the URL was found again: max, sum, ...
    def learn(self, visit: Visit) -> None: ...  # called for every visit, failures included


class Frontier(Protocol):
    """The queue of URLs, best first. Only `pop` ever blocks; one lease is one request."""

    def push(self, links: Sequence[Link], scores: Sequence[float], band: Band = Band.FOUND) -> None: ...
    async def pop(self) -> Lease | None: ...  # None: nothing is queued or in flight, or a limit is reached
    def score(self, link: Link, reached: Sequence[str] = ()) -> float: ...  # includes URLs reached by redirects
    def knows(self, link: Link) -> bool: ...
    def apply(self, effects: "Effects") -> None: ...
    def done(self, reply: Reply | Deferred) -> None: ...  # ends the lease that pop() returned


# -- optional capabilities --------------------------------------------------------------------------------------------


@runtime_checkable
class Prepares(Protocol):
    """A judge or strategy that prepares for the crawl: relative paths in its keys are relative to `folder`. A judge is
    given a function that reads labelled pages, a strategy is given the judge."""

    def prepare(self, folder: Path, given: Any) -> None: ...  # called once, before anything else


@runtime_checkable
class Stateful(Protocol):
    """A judge or strategy whose learned state must survive a restart: plain data, stored together with the visits."""

    def save(self) -> dict[str, Any]: ...
    def load(self, state: dict[str, Any]) -> None: ...


@runtime_checkable
class Learns(Protocol):
    """A judge that learns from the crawl. It learns within the turn, so that its state matches the stored visits."""

    def learn(self, visit: Visit) -> None: ...  # called for every visit, failures included


Revised = Sequence[tuple[str, Verdict]]  # the URL of a visited page, and its new verdict


@runtime_checkable
class Revises(Protocol):
    """A judge that may revise earlier verdicts. Called once a turn, after the judge has learned."""

    def revised(self) -> Revised: ...  # each change once; usually empty


@runtime_checkable
class Hears(Protocol):
    """A strategy or sink that is notified of revised verdicts."""

    def hear(self, revised: Revised) -> None: ...


@runtime_checkable
class Remembers(Protocol):
    """A judge that stores more than fits into `save`. `at_once`: slow work within the turn, so that a crawl repeats."""

    def connect(self, notes: "Notebook", at_once: bool) -> None: ...  # called once, before anything else


@runtime_checkable
class TextRelevance(Protocol):
    """A judge that can rate the relevance, 0..1, of a few words, such as an anchor or its context."""

    def relevance_of(self, words: Sequence[str]) -> float: ...  # `judging.text_relevances` has a faster alternative


class Notes(Protocol):
    """Read access to what a judge or strategy has stored in crawl.db."""

    def get(self, key: str, default: str = "") -> str: ...
    def noted(self, key: str) -> Any: ...
    def notes(self, prefix: str, containing: str | bytes = "") -> Iterable[tuple[str, Any]]: ...


class Notebook(Notes, Protocol):
    """Storage for data of a judge or strategy that is too large for `save`, written together with the visit."""

    def note(self, key: str, value: str | bytes) -> None: ...  # text
    def keep(self, key: str, value: bytes) -> None: ...  # bytes


class Graph(NamedTuple):
    """All links found so far, as ids of source and target, and the ids of the queued URLs."""

    sources: "array[int]"
    targets: "array[int]"
    waiting: "array[int]"


class View(Protocol):
    """A strategy's read-only view of the crawl. Known URLs have ids, starting at 1."""

    @property
    def notes(self) -> Notebook: ...
    def refusals(self, links: Sequence[Link]) -> Mapping[str, str]: ...  # URLs excluded by the scope, and why
    def number(self, url: str) -> int: ...  # the id of the URL; 0 if it is unknown
    def numbers(self, urls: Iterable[str]) -> Sequence[int]: ...  # the same for many, which is faster
    def waits(self, number: int) -> bool: ...  # False for URLs in flight
    def scores(self) -> "array[float]": ...  # of all URLs, by id; must not be modified
    def host(self, number: int) -> str: ...
    def graph(self) -> Graph: ...
    def found_on(self, number: int) -> Mapping[int, str]: ...  # ids and hosts of queued URLs scored by this page


class Effects(Struct, frozen=True):
    """Changes made by a strategy beyond the scores of a page's links, applied in the order of the fields."""

    scale: float = 1.0  # all scores are multiplied by this
    offers: Sequence[Link] = ()  # further links ...
    offered: Sequence[float] = ()  # ... and their scores
    ids: Sequence[int] = ()  # URLs whose score changes; those that are no longer queued are skipped
    scores: Sequence[float] = ()
    hosts: Sequence[str] = ()  # the hosts of these URLs, if the strategy knows them: this saves a lookup
    floor: float | None = None  # URLs with a lower score are held back while any others are queued
    job: Callable[[], None] | None = None  # slow work, done in the background; `effects` is called again after it


NOTHING = Effects()


@runtime_checkable
class Acts(Protocol):
    """A strategy that does more than score links. Called once a turn, after the page's links are queued."""

    def connect(self, view: View) -> Effects: ...  # called once, before anything else; returns the initial effects
    def effects(self) -> Effects: ...


@runtime_checkable
class Lists(Protocol):
    """A strategy with fetch lists: the best `list_size` URLs at one moment are all fetched before others are chosen."""

    list_size: int

    def first(self, found: float) -> float: ...  # the initial score of a URL found for the first time
    def begin_list(self, scores: Sequence[float]) -> None: ...  # the scores of the chosen URLs, best first
    def end_list(self) -> Effects: ...


@runtime_checkable
class Opens(Protocol):
    """A strategy that scores the seeds; without it they come before everything else."""

    def open(self, seeds: Sequence[Link]) -> Sequence[float]: ...


@runtime_checkable
class Targets(Protocol):
    """A strategy that can tell from its URL whether a page is a target, and what its priority is."""

    target_score: float  # the score of a target

    def is_target(self, url: str) -> bool: ...
    def priority(self, url: str) -> float: ...


class Scored(Struct, frozen=True):
    """A link, its score and what is known about its source page: the input for an explanation."""

    link: Link
    score: float
    fetched: bool
    source: Verdict | None = None  # the verdict on the page it was found on
    from_seed: bool = False  # whether that page is a seed
    number: int = 0  # the id of its URL in crawl.db


class Explanation(Struct, frozen=True):
    """Why a link has its score."""

    because: str  # completes "fetched because" and "its score is 0.5 because"
    parts: Mapping[str, float] = {}  # the summands, if the score is a sum
    total: str = ""  # what the sum of the parts is called


@runtime_checkable
class Explains(Protocol):
    """A strategy that can explain link scores. Created from crawl.toml without judge and saved state, to be fast."""

    def explain(self, scored: Scored, notes: Notes) -> Explanation: ...


@runtime_checkable
class Reports(Protocol):
    """A strategy that can report what it has learned, for `lycosa show`: headings, each with names and weights. It is
    created from crawl.toml, with its saved state loaded."""

    def learned(self) -> Mapping[str, Mapping[str, float]]: ...
