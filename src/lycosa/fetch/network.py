"""Is the network up? Try a connection that is closed at once, or a name look-up; no request is made."""

import asyncio
import errno
import socket

import aiohappyeyeballs
import aiohttp
from yarl import URL

from lycosa import config
from lycosa.fetch.address import LocalNames, public_socket

_PATIENCE_S = 5.0
_SHORTAGE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS})  # ours, not the network's
_NO_SUCH_NAME = frozenset({1, 4, socket.EAI_NONAME, socket.EAI_NODATA})  # c-ares: no data, not found; the system's


class Network:
    """Looks up names without a cache: old answers say nothing about now."""

    def __init__(self, rules: config.Fetch) -> None:
        self.rules = rules

    async def reaches(self, url: str) -> bool:
        """Does the host accept a connection? Behind a proxy: does the proxy?"""
        target = URL(self.rules.proxy or url)
        factory = None if self.rules.allow_private or self.rules.proxy else public_socket
        try:
            async with asyncio.timeout(_PATIENCE_S):
                found = await _lookup(target)
                connection = await aiohappyeyeballs.start_connection(
                    [(one["family"], socket.SOCK_STREAM, socket.IPPROTO_TCP, "", _place(one)) for one in found],
                    socket_factory=factory,
                )
                connection.close()
        except OSError as error:
            return error.errno in _SHORTAGE
        return True

    async def resolves(self, url: str) -> bool:
        """Does the name service answer, even if there is no such name? Behind a proxy: for the name of the proxy?"""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await _lookup(URL(self.rules.proxy or url))
        except OSError as error:
            cause = error.__cause__ or error
            return bool(cause.args) and cause.args[0] in _NO_SUCH_NAME
        return True


async def _lookup(url: URL) -> list[aiohttp.abc.ResolveResult]:
    host, port = url.host or "", url.port or 80
    try:
        socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    except OSError:
        resolver = LocalNames(aiohttp.DefaultResolver())
        try:
            return await resolver.resolve(host, port, socket.AF_UNSPEC)
        finally:
            await resolver.close()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return [aiohttp.abc.ResolveResult(hostname=host, host=host, port=port, family=family, proto=0, flags=0)]


def _place(found: aiohttp.abc.ResolveResult) -> tuple[str, int] | tuple[str, int, int, int]:
    is_v6 = found["family"] == socket.AF_INET6
    return (found["host"], found["port"], 0, 0) if is_v6 else (found["host"], found["port"])
