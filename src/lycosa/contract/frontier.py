"""Checks for frontiers."""

import asyncio
from collections.abc import Callable, Sequence

from lycosa.loops import blocking
from lycosa.types import Band, Deferred, Effects, Frontier, Lease, Link, Reply

_LINKS = [Link(f"http://host{place % 3}.example/{place}", "", "", place) for place in range(9)]
_SCORES = [0.1, 0.9, 0.5, 0.7, 0.3, -1.0, 0.8, 0.2, 0.6]


@blocking
def check_frontier(make: Callable[[], Frontier]) -> None:
    """Run all checks. `make` returns a new frontier without delays that merges scores by taking the highest."""
    asyncio.run(_check(make))


async def _check(make: Callable[[], Frontier]) -> None:
    await check_end(make())
    await check_order(make())
    await check_leases(make())
    await check_again(make())
    await check_bands(make())
    await check_effects(make())
    await check_floor(make())


async def check_end(frontier: Frontier) -> None:
    """If nothing is queued or in flight, the crawl is over."""
    assert await _pop(frontier) is None, "pop() of an empty frontier returned a link"


async def check_order(frontier: Frontier) -> None:
    """Best first, each URL once, and never a link with a negative score."""
    frontier.push(_LINKS, _SCORES)
    frontier.push(_LINKS[:2], [0.75, 0.05])  # found again: the higher score counts
    assert frontier.knows(_LINKS[0]), "knows() does not know a link that was pushed"
    assert not frontier.knows(Link("http://host0.example/new")), "knows() knows a link that was never pushed"
    best = {**dict(zip([link.url for link in _LINKS], _SCORES, strict=True)), _LINKS[0].url: 0.75}
    wanted = sorted((url for url, score in best.items() if score >= 0), key=lambda url: -best[url])
    assert await _drain(frontier) == wanted, "links do not come best first, each once"
    frontier.push(_LINKS, _SCORES)
    assert await _pop(frontier) is None, "a link that is done comes a second time"


async def check_leases(frontier: Frontier) -> None:
    """While something is in flight the crawl is not over, because its page may have links."""
    frontier.push(_LINKS[:1], [0.5])
    lease = await _pop(frontier)
    assert lease is not None, "pop() returned nothing although a link is queued"
    link = lease.link
    assert abs(frontier.score(link) - 0.5) < 1e-9, f"the score of the link is {frontier.score(link)}, not 0.5"
    waiting = asyncio.ensure_future(frontier.pop())
    await asyncio.sleep(0)
    assert not waiting.done(), "pop() reported the end of the crawl while a link is in flight"
    frontier.push(_LINKS[1:2], [0.5])
    frontier.done(_reply(link))
    found = await asyncio.wait_for(waiting, 10)
    assert found is not None, "pop() woke up with nothing"
    assert found.link == _LINKS[1], f"pop() woke up with {found}"
    frontier.done(_reply(_LINKS[1]))
    assert await _pop(frontier) is None, "pop() returned a link although all are done"


async def check_again(frontier: Frontier) -> None:
    """A link whose reply says `again` is returned to the frontier."""
    frontier.push(_LINKS[:1], [0.5])
    lease = await _pop(frontier)
    assert lease is not None
    url = lease.link.url
    frontier.done(Deferred(Reply(lease.link, url=url, at=5.0), url))
    assert await _drain(frontier) == [url], "a link that is to be fetched again does not come back"


async def check_bands(frontier: Frontier) -> None:
    """What comes first comes before any score, also if it was found before; among each other they come in order."""
    frontier.push(_LINKS[:3], [0.9, 0.5, 0.7])
    frontier.push([_LINKS[1], _LINKS[3]], [0.0, 0.0], Band.FIRST)
    frontier.push([_LINKS[3]], [1e300])
    wanted = [_LINKS[at].url for at in (1, 3, 0, 2)]
    assert await _drain(frontier) == wanted, "links that come first do not come first, or not in order"


async def check_effects(frontier: Frontier) -> None:
    """A strategy may scale all scores and offer further links."""
    frontier.push(_LINKS[:2], [0.4, 0.3])
    frontier.apply(Effects(scale=0.1, offers=_LINKS[2:3], offered=[0.035]))
    wanted = [_LINKS[at].url for at in (0, 2, 1)]
    assert await _drain(frontier) == wanted, "scores are not scaled, or offered links not queued"


async def check_floor(frontier: Frontier) -> None:
    """What is not worth enough is held back until nothing else is left."""
    frontier.push(_LINKS[6:9], [0.3, 0.2, 0.1])
    frontier.apply(Effects(floor=0.25))
    wanted = [_LINKS[at].url for at in (6, 7, 8)]
    assert await _drain(frontier) == wanted, "what is held back does not come when nothing else is left"


async def _drain(frontier: Frontier) -> Sequence[str]:
    found = []
    while lease := await _pop(frontier):
        found.append(lease.link.url)
        frontier.done(_reply(lease.link))
    return found


async def _pop(frontier: Frontier) -> Lease | None:
    return await asyncio.wait_for(frontier.pop(), 10)


def _reply(link: Link) -> Reply:
    return Reply(link, url=link.url, status=200, content_type="text/html", body=b"<p>", at=5.0)
