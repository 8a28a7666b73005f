"""Which addresses may be connected to: public ones, unless the user allows the others.

The judgement falls on the very address a socket is about to connect to, so a name that resolves to a private address,
a redirect to one and a literal one are all the same.
"""

import ipaddress
import socket
from typing import Any

from aiohttp import abc

AddrInfo = tuple[int, int, int, str, tuple[Any, ...]]


class PrivateAddress(OSError):
    """Not a public address."""


def is_public(address: str) -> bool:
    """May anybody on the Internet have this address?"""
    ip = ipaddress.ip_address(address.split("%", 1)[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def is_private_name(host: str) -> bool:
    """Is the name itself a private address, or this machine? Where a proxy resolves names no more can be known."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(host.strip("[]"))
    except ValueError:
        return False


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def public_socket(info: AddrInfo) -> socket.socket:
    """A socket for one resolved address; PrivateAddress if it is none to connect to."""
    family, kind, protocol, _, where = info
    if not is_public(str(where[0])):
        raise PrivateAddress("private address")  # the same words for every address: several failures stay one
    return socket.socket(family, kind, protocol)


class LocalNames(abc.AbstractResolver):
    """*.localhost is this machine, as RFC 6761 says, whatever the name server thinks; other names go to `inner`."""

    def __init__(self, inner: abc.AbstractResolver) -> None:
        self.inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[abc.ResolveResult]:
        if host != "localhost" and not host.endswith(".localhost"):
            return await self.inner.resolve(host, port, family)
        return [
            abc.ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=socket.AI_NUMERICHOST
            )
        ]

    async def close(self) -> None:
        await self.inner.close()
