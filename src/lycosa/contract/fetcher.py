"""Checks for fetch layers."""

import asyncio
from collections.abc import Callable

from lycosa.loops import blocking
from lycosa.types import Exchange, Layer, Link, Reply

_HTML = b"<title>A page</title><p>Some words."


class Web:
    """A fetcher to put inside a layer: replies according to the path of the URL, and never raises."""

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        await asyncio.sleep(0)  # like the network, so that fetches overlap
        exchanges = (Exchange(link.url, b"GET", b"HTTP/1.1 200 OK", _HTML, 5.0),)
        odd = {
            "timeout": Reply(link, url=link.url, error="timeout", at=5.0),
            "missing": Reply(link, url=link.url, status=404, error="http-404", at=5.0, exchanges=exchanges),
            "busy": Reply(link, url=link.url, status=503, error="http-503", wait_s=9.0, at=5.0),
            "empty": Reply(link, url=link.url, status=200, error="empty", at=5.0),
        }
        good = Reply(link, link.url, 200, "text/html", _HTML, at=5.0, exchanges=exchanges)
        return odd.get(link.url.rpartition("/")[2].partition("-")[0], good)


@blocking
def check_fetcher(make: Callable[[Layer], Layer]) -> None:
    """Run all checks. `make` wraps a fetcher in a new layer; a class whose only argument is the fetcher is enough."""
    asyncio.run(_check(make))


async def _check(make: Callable[[Layer], Layer]) -> None:
    layer = make(Web())
    names = ("page", "timeout", "missing", "busy", "empty", "page")
    links = [Link(f"http://a.example/{name}-{place}", "", "", place) for place, name in enumerate(names * 3)]
    for link in links[: len(names)]:
        check_reply(await _fetch(layer, link), link)
    for reply, link in zip(await asyncio.gather(*(_fetch(layer, link) for link in links)), links, strict=True):
        check_reply(reply, link)
    if hasattr(layer, "close"):
        await layer.close()


async def _fetch(layer: Layer, link: Link) -> Reply:
    try:
        return await layer.fetch(link)
    except Exception as error:
        raise AssertionError(f"fetch() of {link.url} raised {type(error).__name__}: {error}") from error


def check_reply(reply: Reply, link: Link) -> None:
    """A failure is a reply too, and a reply belongs to the link it was fetched for."""
    assert isinstance(reply, Reply), f"fetch() returned a {type(reply).__name__}, not a Reply"
    assert reply.link.url == link.url, f"the reply for {link.url} belongs to {reply.link.url}"
    if not reply.error:
        assert reply.url, f"the reply for {link.url} does not say where it came from"
        assert reply.body, f"the reply for {link.url} has no body and no error"
        assert reply.content_type, f"the reply for {link.url} has no content type"
