"""One request, one reply: HTTP/1.1 with keep-alive, and limits on everything a server may send.

Redirects, retries and robots.txt are separate layers around this one.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime

import aiohttp
from msgspec.structs import replace
from yarl import URL

from lycosa import config, urls
from lycosa.decode import ACCEPTED, Incomplete, TooLarge, decode
from lycosa.fetch.address import LocalNames, PrivateAddress, is_private_name, public_socket
from lycosa.fetch.pool import Pool, is_own_shortage, room
from lycosa.outcomes import EXHAUSTED
from lycosa.types import Exchange, Link, Reply

ANY = ("*",)  # as content types: accept anything, and the start of what is too large
_MOST_HEAD_BYTES = 65_536  # of a reply; a redirect is kept in memory until its target has been fetched
_PAUSES_S = (0.1, 0.5, 1.0, 2.0, 5.0)


class _Answer(aiohttp.ClientResponse):
    """Remembers the peer's address: the connection may be gone by the time the body has been read."""

    async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        self.ip = str(peer[0]) if peer else ""
        return await super().start(connection)


class Http:
    """Fetches one URL per call; call `open` before and `close` after."""

    def __init__(
        self,
        rules: config.Fetch,
        now: Callable[[], float],
        resolver: aiohttp.abc.AbstractResolver | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rules = rules
        self._now = now
        self._resolver = resolver
        self._sleep = sleep
        self._accepted = tuple(kind.lower() for kind in rules.content_types)

    async def open(self) -> None:
        rules = self.rules
        under_way, idle = room(rules.concurrency)
        self._places = asyncio.Semaphore(under_way) if under_way < rules.concurrency else None
        self._pool = Pool(
            idle,
            ttl_dns_cache=600,
            keepalive_timeout=max(15.0, min(2 * rules.delay_s, 60.0)),
            resolver=LocalNames(self._resolver or aiohttp.DefaultResolver()),
            # a proxy is the user's choice and may be on this machine
            socket_factory=None if rules.allow_private or rules.proxy else public_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=self._pool,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Answer,
            auto_decompress=False,  # the WARC stores the body as received
            headers={
                "User-Agent": rules.user_agent,
                "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
                "Accept-Encoding": ACCEPTED,
            },
            timeout=aiohttp.ClientTimeout(
                total=rules.total_s or None, connect=rules.connect_s or None, sock_read=rules.read_s or None
            ),
        )
        self._session._retry_connection = False  # a retry is a separate turn: see retries.py
        self._proxy = URL(rules.proxy) if rules.proxy else None

    async def close(self) -> None:
        await self._session.close()

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        """`accept` and `most` override the configured content types and size limit."""
        if self.rules.proxy and not self.rules.allow_private and is_private_name(urls.hostname(link.url)):
            why = "not requested from a proxy either"
            return Reply(link, url=link.url, error="private-address", detail=why, at=self._now())
        reply = await self._try(link, accept, most)
        if reply.error == EXHAUSTED:
            for pause_s in _PAUSES_S:
                self._pool.keep_idle(0)  # their descriptors may be all we need
                await self._sleep(pause_s)
                reply = await self._try(link, accept, most)
                if reply.error != EXHAUSTED:
                    break
        return reply

    async def _try(self, link: Link, accept: tuple[str, ...], most: int) -> Reply:
        if self._places:
            await self._places.acquire()  # time spent here does not count as the host's
        at = self._now()
        try:
            reply = await self._ask(link, accept or self._accepted, most or self.rules.max_bytes, at)
        except _FAILURES as error:
            kind, detail = _explain(error)
            reply = Reply(link, url=link.url, error=kind, detail=detail, at=at)
        finally:
            if self._places:
                self._places.release()
        return replace(reply, seconds=max(0.0, self._now() - at))

    async def _ask(self, link: Link, accept: tuple[str, ...], most: int, at: float) -> Reply:
        url = URL(link.url, encoded=True)
        async with self._session.get(url, allow_redirects=False, proxy=self._proxy) as answer:
            head = _head(answer)
            if len(head) > _MOST_HEAD_BYTES:
                answer.close()
                detail = f"headers of more than {_MOST_HEAD_BYTES} bytes"
                return Reply(link, url=link.url, error="protocol", detail=detail, at=at)
            payload, error = await _take(answer, accept, most)
            if error:
                answer.close()  # the rest is not read
        headers = answer.headers
        content_type = _readable(headers.get("Content-Type", ""))
        ip = getattr(answer, "ip", "")
        reply = Reply(
            link,
            url=link.url,
            status=answer.status,
            content_type=content_type,
            error=error or (f"http-{answer.status}" if not 200 <= answer.status < 300 else ""),
            detail=content_type if error == "content-type" else _location(headers.get("Location", "")),
            at=at,
            wait_s=_retry_after(headers.get("Retry-After", ""), at),
            exchanges=(Exchange(link.url, _asked(answer), head, payload, at, ip),),
            robots_tag=_readable(", ".join(headers.getall("X-Robots-Tag", ()))),
            ip="" if self._proxy else ip,
        )
        return _decoded(reply, payload, headers.get("Content-Encoding", ""), most)


async def _take(answer: aiohttp.ClientResponse, accept: tuple[str, ...], most: int) -> tuple[bytes, str]:
    """The body as received, and why it was not accepted."""
    if 300 <= answer.status < 400:
        body, _ = await _read(answer, _LEAST)  # reading a short body keeps the connection usable
        return body, "" if len(body) < _LEAST else f"http-{answer.status}"
    if answer.status < 300:
        kind = answer.headers.get("Content-Type", "").split(";", 1)[0].strip().lower()
        if kind and accept != ANY and kind not in accept:
            return b"", "content-type"
    if accept != ANY and answer.content_length is not None and answer.content_length > most:
        return b"", "too-large"
    return await _read(answer, most)


async def _read(answer: aiohttp.ClientResponse, most: int) -> tuple[bytes, str]:
    chunks: list[bytes] = []
    size = 0
    while chunk := await answer.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > most:
            return b"".join(chunks)[:most], "too-large"
    return b"".join(chunks), ""


def _decoded(reply: Reply, payload: bytes, encoding: str, most: int) -> Reply:
    """The reply with its body if complete; if too large, with the part that fits, for callers that can use it."""
    if reply.error not in ("", "too-large"):
        return reply
    try:
        body = decode(payload, encoding, most) if encoding else payload
        return replace(reply, body=body, error=reply.error or ("" if body else "empty"))
    except TooLarge as error:
        return replace(reply, error="too-large", detail=f"over {most} bytes when decoded", body=error.start)
    except Incomplete as error:
        if reply.error == "too-large":  # we stopped reading
            return replace(reply, body=error.start)
        return replace(reply, error="incomplete", detail=f"the {encoding[:40]} body was truncated")
    except ValueError as error:
        return replace(reply, error=reply.error or "decode", detail=str(error))


def _readable(header: str) -> str:
    """Without the surrogates that stand for invalid UTF-8, which cannot be written to files or databases."""
    return header if header.isascii() else header.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _location(header: str) -> str:
    """Decoded as in browsers: bytes that are not allowed in a URL are percent-encoded."""
    if header.isascii() and header.isprintable():
        return header
    raw = header.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if 32 < byte < 127 else f"%{byte:02X}" for byte in raw)


def _asked(answer: aiohttp.ClientResponse) -> bytes:
    request = answer.request_info
    lines = [f"{request.method} {request.url.raw_path_qs} HTTP/1.1", *map(": ".join, request.headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _head(answer: aiohttp.ClientResponse) -> bytes:
    version = answer.version or aiohttp.HttpVersion11
    status = f"HTTP/{version.major}.{version.minor} {answer.status} {answer.reason or ''}".encode("latin-1", "replace")
    fields = answer.raw_headers
    if "Transfer-Encoding" in answer.headers:
        fields = tuple(field for field in fields if field[0].lower() != b"transfer-encoding")
    return b"\r\n".join([status, *map(b": ".join, fields), b"", b""])


def _retry_after(text: str, now: float) -> float:
    """The seconds that a Retry-After header asks for, as a number or a date; 0 if it is invalid."""
    if not text:
        return 0.0
    if text.isascii() and text.isdigit():
        return float(text[:10])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0


_LEAST = 8_192
_FAILURES = (aiohttp.ClientError, TimeoutError, OSError, ValueError, aiohttp.http.HttpProcessingError)


def _explain(error: Exception) -> tuple[str, str]:
    """The kind of a failure, and its message."""
    if is_own_shortage(error):
        return EXHAUSTED, _words(error)
    cause = getattr(error, "os_error", error)
    for kinds, name in (
        (PrivateAddress, "private-address"),
        (aiohttp.ClientConnectorDNSError, "dns"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        (TimeoutError, "timeout"),
        (aiohttp.ServerDisconnectedError, "disconnected"),
        (aiohttp.ClientPayloadError, "incomplete"),
        ((aiohttp.InvalidURL, aiohttp.ClientResponseError, aiohttp.http.HttpProcessingError), "protocol"),
        ((aiohttp.ClientConnectionError, OSError), "connect"),
    ):
        if isinstance(error, kinds) or isinstance(cause, kinds):
            return name, _words(error)
    return "protocol", _words(error)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
