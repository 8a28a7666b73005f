"""Which addresses may be connected to: public ones, unless the user allows others.

The check is made on the address that a socket is about to connect to, so it covers names that resolve to a private
address, redirects to one, and literal ones.
"""

import ipaddress
import socket
from typing import Any

from aiohttp import abc

AddrInfo = tuple[int, int, int, str, tuple[Any, ...]]


class PrivateAddress(OSError):
    """Not a public address."""


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")  # all of IPv6 that has been allocated; fec0::/10 and the like are outside
_SPECIAL = [
    ipaddress.ip_network(text)
    for text in (  # special-purpose ranges that `is_global` calls global in some or all versions of Python
        "192.0.0.0/24",
        "192.88.99.0/24",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
]
_LOCAL_DOMAINS = ("localhost", "localdomain", "local", "internal", "home.arpa")


def is_public(address: str) -> bool:
    """Is this a public Internet address?"""
    ip = ipaddress.ip_address(address.split("%", 1)[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:  # it maps to an IPv4 address
            return is_public(str(inner))
        if ip not in _UNICAST:
            return False
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def is_private_name(host: str) -> bool:
    """Is the name itself a private address, or a name of a local network? If a proxy resolves names, nothing more can
    be known."""
    name = host.rstrip(".")
    try:
        return not is_public(name.strip("[]"))
    except ValueError:
        return "." not in name or _is_below(name, _LOCAL_DOMAINS)


def _is_below(name: str, domains: tuple[str, ...]) -> bool:
    """Is the name one of the domains, or a subdomain of one?"""
    return f".{name}".endswith(tuple(f".{domain}" for domain in domains))


def public_socket(info: AddrInfo) -> socket.socket:
    """A socket for a resolved address; PrivateAddress if it may not be connected to."""
    family, kind, protocol, _, where = info
    if not is_public(str(where[0])):
        raise PrivateAddress("private address")  # the same text for every address: several failures count as one
    return socket.socket(family, kind, protocol)


class LocalNames(abc.AbstractResolver):
    """Resolves *.localhost to this machine, as RFC 6761 requires, whatever DNS says; other names go to `inner`."""

    def __init__(self, inner: abc.AbstractResolver) -> None:
        self.inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[abc.ResolveResult]:
        if not _is_below(host.rstrip("."), ("localhost",)):
            return await self.inner.resolve(host, port, family)
        return [
            abc.ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=socket.AI_NUMERICHOST
            )
        ]

    async def close(self) -> None:
        await self.inner.close()
