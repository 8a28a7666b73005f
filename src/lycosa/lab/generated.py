"""A web of any size, computed from URL and random seed: nothing is stored, and every page is always the same.

All links of a page lead to the port it was requested at, so a web need not know where it is served.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from random import Random

from msgspec import Struct

from lycosa.lab.answer import CLOSE, Answer
from lycosa.lab.layout import Layout, Links, Oddities, Place
from lycosa.lab.page_text import Anchor, PageText, Text, page_text
from lycosa.lab.vocabulary import topic_words
from lycosa.types import BadInput

_ROBOTS_URL = re.compile(r"https?://[^/]+/robots\.txt")
_MONTH = re.compile(r"/calendar/(\d{1,9})/(\d{1,2})")
_TRAP_SHARE = 0.1  # share of pages that link to the trap
_HTML = Answer().headers
_FAILURES = (
    (404, _HTML),
    (500, _HTML),
    (503, (*_HTML, ("Retry-After", "2"))),
    (CLOSE, ()),
)

__all__ = ["GeneratedPage", "GeneratedWeb", "Links", "Oddities", "Text"]


class GeneratedPage(Answer, frozen=True):
    """A reply together with its true topic."""

    topic: str = ""  # for evaluation only; empty if the page has none


class GeneratedWeb(Struct, frozen=True, dict=True):
    """Pages on hosts named `<word><number>.localhost`, or on loopback addresses for crawlers that need addresses."""

    pages: int = 1000
    hosts: int = 20
    seed: int = 0
    ip_hosts: bool = False  # 127.0.0.2, 127.0.0.3, ...: Linux answers on all of them
    text: Text = Text()
    links: Links = Links()
    oddities: Oddities = Oddities()

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        """The reply to a request, robots.txt included; 404 if there is no page."""
        page = self.page(url)
        if page is None and _ROBOTS_URL.fullmatch(url):
            return Answer(headers=(("Content-Type", "text/plain"),), body=self.robots(url.split("/")[2]).encode())
        return page or Answer(status=404, body=b"<title>Not found</title><p>There is no such page.")

    def page(self, url: str) -> GeneratedPage | None:
        """The page at a URL, or None if this web has none."""
        found = self._layout.find(url)
        if found is None:
            return None
        place, port = found
        if place.host == self.hosts:
            return None if url.endswith("/robots.txt") else self._trap(url)
        if self.oddities.failing and place.host == max(0, self.hosts - 2):
            return self._failure(place)
        delay_s = self.oddities.slow_s if place.host == self.hosts - 1 else 0.0
        kind = self._layout.kind(place)
        topic = self.text.topics[self._layout.topic(place)]
        if kind == "redirect":
            location = self._layout.url(self._layout.original(place), port)
            return GeneratedPage(301, (("Location", location),), delay_s=delay_s, topic=topic)
        shown = self._layout.original(place) if kind == "duplicate" else place
        return GeneratedPage(body=self._body(shown, port), delay_s=delay_s, topic=topic)

    def robots(self, host: str) -> str:
        """The robots.txt of a host: the same for all."""
        return "User-agent: *\nDisallow: /private/\n"

    def seeds(self, port: int, count: int = 5, topic: str = "") -> list[str]:
        """Home pages to start from: of the first hosts, or of the first hosts whose main topic is given."""
        layout = self._layout
        chosen = range(self.hosts)
        if topic:
            chosen = chosen[self._number(topic) :: len(self.text.topics)]
        return [layout.url(Place(host, 0), f":{port}") for host in chosen[:count]]

    def topic_of(self, url: str) -> str:
        """The true topic of a page, for evaluation only; empty if it has none."""
        found = self._layout.find(url)
        if found is None or found[0].host == self.hosts:
            return ""
        return self.text.topics[self._layout.topic(found[0])]

    def words_of(self, topic: str) -> tuple[str, ...]:
        """The words that pages of a topic use: keywords for a crawl that looks for it."""
        return topic_words(self.text.topics[self._number(topic)])

    def _number(self, topic: str) -> int:
        if topic not in self.text.topics:
            raise BadInput(f"generated web: no topic {topic!r}; there are {', '.join(self.text.topics)}")
        return self.text.topics.index(topic)

    @cached_property
    def _layout(self) -> Layout:
        layout = Layout(self.pages, self.hosts, self.seed, self.ip_hosts, self.text, self.links, self.oddities)
        layout.check()
        return layout

    @property
    def _page_text(self) -> PageText:
        return page_text(self.text, self.seed)

    def _body(self, place: Place, port: str) -> bytes:
        layout = self._layout
        random = Random(layout.bits(place, 2))
        named = 1.0 if layout.kind(place) == "hub" else self.links.anchor_quality
        anchors = [
            Anchor(
                layout.path(target) if target.host == place.host else layout.url(target, port),
                layout.topic(target) if random.random() < named else -1,
            )
            for target in layout.targets(place, random)
        ]
        if self.oddities.trap and random.random() < _TRAP_SHARE:
            anchors.append(Anchor(f"http://{layout.host(self.hosts)}{port}/calendar/2024/1", -1))
        least, most = self.text.size_bytes
        size = least + int(random.random() * (most - least + 1))
        return self._page_text.page(random, layout.topic(place), anchors, size)

    def _failure(self, place: Place) -> GeneratedPage:
        status, headers = _FAILURES[self._layout.bits(place, 3) % len(_FAILURES)]
        return GeneratedPage(status, headers, b"<title>Failure</title><p>This host fails on purpose.")

    def _trap(self, url: str) -> GeneratedPage:
        """A page of the trap, which always has a next one: the following month, and a longer path."""
        path = "/" + url.split("/", 3)[3]
        found = _MONTH.fullmatch(path)
        year, month = (int(found[1]), int(found[2])) if found else (2024, 1)
        months = year * 12 + month
        hrefs = [f"/calendar/{months // 12}/{months % 12 + 1}", f"/calendar/{months // 12 + 1}/1"]
        hrefs += [f"{path.rstrip('/')}/{step}" for step in ("day", "week", "list")]
        body = self._page_text.page(Random(f"{self.seed} {path}"), -1, [Anchor(href, -1) for href in hrefs], 4000)
        return GeneratedPage(body=body)
