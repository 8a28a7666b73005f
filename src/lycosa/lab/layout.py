"""The layout of a generated web: map URLs to pages and back, and compute links, by arithmetic alone.

The main topic of host h is h modulo the number of topics. Its pages come in blocks of five: four about that topic and
one, the *stranger*, about another. So the topic of a page, and a page of a topic, are found without a table.
"""

import re
from bisect import bisect
from functools import cached_property
from itertools import accumulate
from random import Random

from msgspec import Struct

from lycosa.lab.page_text import Text, page_text
from lycosa.lab.vocabulary import NEUTRAL_SECTIONS, topic_words
from lycosa.types import BadInput

_BLOCK = 5
_HIDDEN, _STRANGER = 3, 4  # positions in a block; the former is hidden only if there are chains
_URL = re.compile(r"http://([^/:]+)(:\d+)?(/[^?#]*)")
_PAGE = re.compile(r"/[a-z0-9]+/[a-z]+-[a-z]+-(\d{1,12})\.html")
_NAMED = re.compile(r"[a-z]+?(\d{1,9})\.localhost")
_FIRST_IP = (127 << 24) + 2
_64_BITS = (1 << 64) - 1


class Links(Struct, frozen=True):
    """How pages link to each other."""

    count: tuple[int, int] = (50, 100)  # links per page
    locality: float = 0.6  # probability that a link stays in the topic
    same_host: float = 0.3  # probability that it stays on the host
    matrix: tuple[tuple[float, ...], ...] = ()  # link weights from topic to topic, instead of locality
    anchor_quality: float = 0.7  # probability that the anchor, its sentence and the URL's words name the target's topic
    hubs: float = 0.03  # share of pages with twice as many links, nearly all within the topic
    chains: int = 0  # a fifth of the pages can be reached only through this many off-topic pages


class Oddities(Struct, frozen=True):
    """What makes a web hard to crawl; shares are of all pages."""

    dead_ends: float = 0.0
    duplicates: float = 0.0  # identical to another page of the host
    redirects: float = 0.0
    private: float = 0.0  # forbidden by robots.txt
    slow_s: float = 0.0  # the last host takes this long for each reply
    failing: bool = False  # the host before it replies 404, 500, 503 or not at all
    trap: bool = False  # one more host, with an endless calendar and endless paths


class Place(Struct, frozen=True, gc=False):
    """A page: the number of its host and its rank there; rank 0 is the home page."""

    host: int
    rank: int


class Layout(Struct, frozen=True, dict=True):
    """All places of one web."""

    pages: int
    hosts: int
    seed: int
    ip_hosts: bool
    text: Text
    links: Links
    oddities: Oddities

    def check(self) -> None:
        """Reject impossible settings."""
        topics = len(self.text.topics)
        if self.hosts < 1 or self.pages < self.hosts:
            raise BadInput(f"generated web: {self.pages} pages cannot fill {self.hosts} hosts")
        if topics < 1:
            raise BadInput("generated web: at least one topic is needed")
        if self.links.matrix and {topics} != {len(self.links.matrix), *map(len, self.links.matrix)}:
            raise BadInput(f"generated web: the link matrix must have {topics} rows and {topics} columns")
        if sum(self._shares) > 0.8:
            raise BadInput("generated web: hubs, dead ends, duplicates, redirects and private pages exceed 0.8 of all")

    # properties of a place

    def bits(self, place: Place, use: int) -> int:
        """64 pseudo-random bits that never change for a page; different ones for each use."""
        x = place.host * 0x9E3779B97F4A7C15 + place.rank * 0xD1B54A32D192ED03
        x = (x + (self.seed * 16 + use) * 0x8CB92BA72F3D8DD7) & _64_BITS
        x = (x ^ x >> 32) * 0xBF58476D1CE4E5B9 & _64_BITS
        x = (x ^ x >> 29) * 0x94D049BB133111EB & _64_BITS
        return x ^ x >> 32

    def ranks(self, host: int) -> int:
        """The number of pages of a host."""
        return self.pages // self.hosts + (host < self.pages % self.hosts)

    def topic(self, place: Place) -> int:
        """The number of the topic a page is about."""
        topics = len(self.text.topics)
        if place.rank % _BLOCK != _STRANGER or topics == 1:
            return place.host % topics
        return (place.host + 1 + place.rank // _BLOCK // self._chain % (topics - 1)) % topics

    def kind(self, place: Place) -> str:
        """Plain, hub, dead end, duplicate, redirect or private; strangers and home pages are always plain."""
        if place.rank == 0 or place.rank % _BLOCK == _STRANGER:
            return "plain"
        lot = self.bits(place, 0) / 2**64 * (_BLOCK - 1) / _BLOCK
        return _KINDS[bisect(self._kind_limits, lot)]

    def original(self, place: Place) -> Place:
        """The plain page of the same host and topic that a duplicate copies or a redirect leads to."""
        rank = place.rank - 1
        while rank and (rank % _BLOCK in (_HIDDEN, _STRANGER) or self.kind(Place(place.host, rank)) != "plain"):
            rank -= 1
        return Place(place.host, rank)

    @property
    def _chain(self) -> int:
        return max(1, self.links.chains)

    @property
    def _shares(self) -> list[float]:
        odd = self.oddities
        return [self.links.hubs, odd.dead_ends, odd.duplicates, odd.redirects, odd.private]

    @cached_property
    def _kind_limits(self) -> list[float]:
        return list(accumulate(self._shares))

    # URLs

    def url(self, place: Place, port: str) -> str:
        """The URL of a page at a port, written `:8080`."""
        return f"http://{self.host(place.host)}{port}{self.path(place)}"

    def host(self, number: int) -> str:
        """The name or IP address of a host; the one after the last is the trap."""
        if self.ip_hosts:
            ip = _FIRST_IP + number
            return f"127.{ip >> 16 & 255}.{ip >> 8 & 255}.{ip & 255}"
        return f"{self._host_words[number % len(self._host_words)]}{number}.localhost"

    def path(self, place: Place) -> str:
        """The path contains the rank and, in some of its words, perhaps the topic."""
        if place.rank == 0:
            return "/"
        bits = self.bits(place, 1)
        named = (bits & 1023) / 1024 < self.links.anchor_quality
        words = self._words[self.topic(place)] if named else NEUTRAL_SECTIONS
        private = self.oddities.private and self.kind(place) == "private"
        section = "private" if private else NEUTRAL_SECTIONS[(bits >> 10) % len(NEUTRAL_SECTIONS)]
        return f"/{section}/{words[(bits >> 20) % len(words)]}-{words[(bits >> 40) % len(words)]}-{place.rank}.html"

    def find(self, url: str) -> tuple[Place, str] | None:
        """The place and the port (`:8080`) of a URL; None if this web has no such page."""
        found = _URL.fullmatch(url)
        host = self._host_number(found[1]) if found else -1
        if found is None or host < 0:
            return None
        port, path = found[2] or "", found[3]
        numbered = _PAGE.fullmatch(path)
        place = Place(host, int(numbered[1]) if numbered else 0)
        if host == self.hosts:
            return place, port
        return (place, port) if place.rank < self.ranks(host) and path == self.path(place) else None

    def _host_number(self, name: str) -> int:
        if self.ip_hosts:
            parts = name.split(".")
            known = len(parts) == 4 and all(part.isdecimal() and int(part) < 256 for part in parts)
            number = int.from_bytes(map(int, parts), "big") - _FIRST_IP if known else -1
        else:
            found = _NAMED.fullmatch(name)
            number = int(found[1]) if found else -1
        exists = 0 <= number < self.hosts + self.oddities.trap
        return number if exists and self.host(number) == name else -1

    @cached_property
    def _host_words(self) -> list[str]:
        return [name.lower() for name in page_text(self.text, self.seed).names]

    @cached_property
    def _words(self) -> list[tuple[str, ...]]:
        return [topic_words(name) for name in self.text.topics]

    # links

    def targets(self, place: Place, random: Random) -> list[Place]:
        """The pages a page links to, those on its own host first, each once."""
        kind = self.kind(place)
        if kind == "dead end":
            return []
        hub = kind == "hub"
        least, most = self.links.count
        count = (least + int(random.random() * (most - least + 1))) * (2 if hub else 1)
        topic = self.topic(place)
        found = dict.fromkeys(self._gated(place))
        for _ in range(count - len(found)):
            wanted = topic if hub and random.random() < 0.95 else self._next_topic(topic, random)
            host = place.host if random.random() < self.links.same_host else -1
            found[self._member(wanted, host, random)] = None
        found.pop(place, None)
        return sorted(found, key=lambda target: target.host != place.host)

    def _next_topic(self, topic: int, random: Random) -> int:
        topics = len(self.text.topics)
        if self.links.matrix:
            row = self._rows[topic]
            return min(bisect(row, random.random() * row[-1]), topics - 1)
        if topics == 1 or random.random() < self.links.locality:
            return topic
        return (topic + 1 + int(random.random() * (topics - 1))) % topics

    @cached_property
    def _rows(self) -> list[list[float]]:
        return [list(accumulate(row)) for row in self.links.matrix]

    def _member(self, topic: int, host: int, random: Random) -> Place:
        """A page on a topic, on the given host if that is not negative and has one."""
        topics = len(self.text.topics)
        at_home = (self.hosts - topic + topics - 1) // topics  # number of hosts with this main topic
        if host < 0 and at_home and random.random() < 0.8:
            host = topic + topics * int(random.random() * at_home)
        if host < 0:
            host = int(random.random() * self.hosts)
        if host % topics != topic:
            stranger = self._stranger(topic, host, random)
            if stranger or not at_home:
                return stranger or Place(host, 0)
            host = topic + topics * int(random.random() * at_home)
        rank = int(random.random() * self.ranks(host))
        place = rank % _BLOCK
        if place == _STRANGER and topics > 1:
            rank -= 1
            place = _HIDDEN
        return Place(host, rank - 1 if self.links.chains and place == _HIDDEN else rank)

    def _stranger(self, topic: int, host: int, random: Random) -> Place | None:
        topics = len(self.text.topics)
        groups = (self.ranks(host) // _BLOCK + self._chain - 1) // self._chain
        first = (topic - host - 1) % topics
        count = (groups - first + topics - 2) // (topics - 1)
        if count <= 0:
            return None
        group = first + (topics - 1) * int(random.random() * count)
        return Place(host, group * self._chain * _BLOCK + _STRANGER)

    def _gated(self, place: Place) -> list[Place]:
        """Links that only this page has: to the next stranger of its chain, or at its end to hidden pages."""
        if not self.links.chains or place.rank % _BLOCK != _STRANGER:
            return []
        block = place.rank // _BLOCK
        first = block - block % self._chain
        following = Place(place.host, place.rank + _BLOCK)
        if block + 1 < first + self._chain and following.rank < self.ranks(place.host):
            return [following]
        return [Place(place.host, number * _BLOCK + _HIDDEN) for number in range(first, block + 1)]


_KINDS = ("hub", "dead end", "duplicate", "redirect", "private", "plain")
