"""What a URL of the soak's web answers, byte by byte: pages, robots.txt, and every kind of broken reply."""

import asyncio
import gzip
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from random import Random
from urllib.parse import urlsplit

from web import RETRY_AFTER_S, WORDS, Site, Spot, Web

NOISE_BYTES = 9_000  # a page, so that a WARC of the least size is full a few times in a crawl
Pieces = AsyncIterator[bytes]


def http(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A whole answer; underscores in header names mean hyphens."""
    lines = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    return (f"HTTP/1.1 {status}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n").encode() + body


def page(url: str, spot: Spot) -> bytes:
    chance = Random(spot.same_as or url)
    words = " ".join(chance.choices(WORDS, k=chance.randint(30, 120)))
    links = "".join(f'<p>{chance.choice(WORDS)} <a href="{link}">{chance.choice(WORDS)}</a></p>' for link in spot.links)
    noise = b64encode(chance.randbytes(NOISE_BYTES)).decode()
    title = f"{chance.choice(WORDS)} {chance.randrange(10**9)}"
    return f"<!doctype html><title>{title}</title><p>{words}</p>{links}<!-- {noise} -->".encode()


def redirect(target: str) -> bytes:
    return http(b"", "302 Found", Location=target)


def busy(code: int) -> bytes:
    return http(b"", f"{code} Later", Retry_After=str(RETRY_AFTER_S))


def robots(site: Site, tries: int) -> bytes:
    """The robots.txt of a host at its n-th request."""
    if site.robots == "missing":
        return http(b"", "404 Not Found")
    if site.robots in ("moved", "lost"):
        return redirect(site.robots_at)
    if site.robots == "flaky" and tries == 0:
        return busy(503)
    return http(rules(site), Content_Type="text/plain")


def rules(site: Site) -> bytes:
    lines = ["User-agent: *", "Disallow: /private/"]
    if site.crawl_delay_s:
        lines.append(f"Crawl-delay: {site.crawl_delay_s}")
    if site.robots == "long":  # many groups with many rules
        lines += [f"User-agent: robot{number}" for number in range(60)] + [f"Disallow: /{n}/x*y$" for n in range(60)]
    return "\n".join(lines).encode()


# -- broken replies: each yields what goes over the wire, and the connection is closed behind it ----------------------


def says(answer: bytes) -> Callable[[], Pieces]:
    async def pieces() -> Pieces:
        yield answer

    return pieces


async def silent() -> Pieces:
    await asyncio.sleep(60)
    yield b""


async def huge_head() -> Pieces:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in range(3_000):
        yield b"X-%d: %s\r\n" % (number, b"flood " * 20)


async def endless() -> Pieces:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    for _ in range(1_000):
        yield b"2710\r\n" + b"a" * 10_000 + b"\r\n"


def _poison(tags: int) -> bytes:
    return b"<title>poison</title>" + b"".join(b"<html a%d>" % number for number in range(tags))


_HALF = gzip.compress(b"<p>" + bytes(range(256)) * 40)
_CUT = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>short"
_CHUNK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n<p>what\r\n"
BROKEN: dict[str, Callable[[], Pieces]] = {
    "missing": says(http(b"", "404 Not Found")),
    "error": says(http(b"", "500 Oh No")),
    "silent": silent,
    "cut": says(_CUT),
    "garbage": says(b"\x00\x01\x02 who are you?\r\n\r\n"),
    "huge-head": huge_head,
    "endless": endless,
    "bomb": says(http(gzip.compress(bytes(30_000_000)), Content_Encoding="gzip")),
    "bad-gzip": says(http(b"\x1f\x8b\x08\x00 not gzip at all", Content_Encoding="gzip")),
    "half-gzip": says(http(_HALF[: len(_HALF) // 2], Content_Encoding="gzip")),
    "reset": says(b""),
    "empty": says(http(b"")),
    "image": says(http(b"\x89PNG", Content_Type="image/png")),
    "bad-chunk": says(_CHUNK),
    "nowhere": says(http(b"", "302 Found")),
    "poison": says(http(_poison(4_000))),
}
WILD = ("garbage", "huge-head", "endless", "bomb", "reset", "bad-chunk", "cut", "error", "silent")


def answer(web: Web, url: str, tries: int) -> tuple[bytes, float, float]:
    """A sound answer at the n-th request, how long it takes and how long the host wants to be left alone after it;
    no bytes if the reply is one of the broken ones."""
    site, path = web.site(url), urlsplit(url).path
    if path == "/robots.txt":
        reply = robots(site, tries)
        return reply, 0.0, RETRY_AFTER_S if b"Retry-After" in reply else 0.0
    if path.startswith("/robots-of-"):
        return http(rules(Site(site.host, site.ip)), Content_Type="text/plain"), 0.0, 0.0
    if path.startswith("/on-and-on/"):
        hops, number = path.split("/")[2:]
        return redirect(f"http://{site.host}/on-and-on/{int(hops) + 1}/{number}"), 0.0, 0.0
    spot = web.spots.get(url, Spot("missing"))
    if tries < spot.fails:
        return busy(503 if tries % 2 else 429), 0.0, RETRY_AFTER_S
    if spot.kind == "page":
        return http(page(url, spot)), spot.slow_s, 0.0
    return (redirect(spot.target) if spot.kind == "redirect" else b""), 0.0, 0.0
