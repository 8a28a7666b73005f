"""Make a web as difficult as a real one: slow, with failures, with a robots.txt, and all of it over plain http."""

from collections.abc import Mapping
from dataclasses import dataclass

import xxhash
from msgspec.structs import replace

from lycosa.lab.answer import CLOSE, Answer, Site

RECORDED = "recorded"
_FAILURES = (
    Answer(404, body=b"<title>Not found</title><p>This page fails on purpose."),
    Answer(500, body=b"<title>Error</title><p>This page fails on purpose."),
    Answer(503, (*Answer().headers, ("Retry-After", "1")), b"<title>Busy</title><p>This page fails on purpose."),
    Answer(CLOSE, ()),
)
_NOT_FOUND = Answer(404, (("Content-Type", "text/plain"),), b"no rules here\n")
_HTML = ("text/html", "application/xhtml+xml")


@dataclass
class Faulty:
    """A site with faults. The same URL always has the same fault."""

    site: Site
    latency_s: float = 0.0
    errors: float = 0.0  # share of URLs that fail: 404, 500, 503, or no reply at all
    robots: str = ""  # the robots.txt of every host; "recorded": those of the web; empty: none
    as_http: bool = False  # rewrite https to http in links and redirects, because a proxy cannot see into https
    seed: int = 0

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        answer = self._robots(url, headers) if url.split("?")[0].endswith("/robots.txt") else self._page(url, headers)
        return replace(answer, delay_s=answer.delay_s + self.latency_s) if self.latency_s else answer

    def _robots(self, url: str, headers: Mapping[str, str]) -> Answer:
        if self.robots == RECORDED:
            return self.site.respond(url, headers)
        return Answer(200, _NOT_FOUND.headers, self.robots.encode()) if self.robots else _NOT_FOUND

    def _page(self, url: str, headers: Mapping[str, str]) -> Answer:
        chance = xxhash.xxh3_64_intdigest(url.encode(), self.seed)
        if chance / 2**64 < self.errors:
            return _FAILURES[chance % len(_FAILURES)]
        answer = self.site.respond(url, headers)
        return _plain(answer) if self.as_http else answer


def _plain(answer: Answer) -> Answer:
    head = {name.lower(): value for name, value in answer.headers}
    kept = tuple(
        (name, value.replace("https://", "http://", 1) if name.lower() == "location" else value)
        for name, value in answer.headers
    )
    is_html = head.get("content-type", "").split(";")[0].strip().lower() in _HTML
    body = answer.body.replace(b"https://", b"http://") if is_html else answer.body
    return replace(answer, headers=kept, body=body)
