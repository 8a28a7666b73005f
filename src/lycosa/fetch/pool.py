"""The connections of a crawl: no more than this process may open, and a limited number of idle ones.

Running out of file descriptors or buffers is our own problem, never a failure of the host: see `is_own_shortage`.
"""

import contextlib
import errno
import functools
import os
import resource
import socket
from itertools import islice
from typing import Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.http_exceptions import HttpProcessingError

_SPARE = 32  # descriptors for the database, WARC files, name servers and anything else
_LEAST_IDLE = 256
_MOST_INTERIM = 32  # replies of 100 to 199 before the real one: a server may send some, but not endlessly
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Pool(aiohttp.TCPConnector):
    """Keeps at most `most_idle` idle connections open; the one that has been idle longest is closed first."""

    def __init__(self, most_idle: int, **options: Any) -> None:
        super().__init__(limit=0, **options)  # the number in use is limited elsewhere: waiting here is a time-out
        self.most_idle = most_idle
        self._factory = cast(functools.partial[ResponseHandler], functools.partial(_Answers, loop=self._loop))

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        if len(self._conns) > self.most_idle:
            self.keep_idle(self.most_idle)

    def keep_idle(self, count: int) -> None:
        """Close idle connections beyond this number, in the order in which they became idle."""
        for key in list(islice(self._conns, max(0, len(self._conns) - count))):
            for protocol, _ in self._conns.pop(key):
                protocol.close()


class _Answers(ResponseHandler):
    """Skips interim replies, up to a limit."""

    _interim = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        code = data[0].code
        if not 100 <= code < 200 or code == 101:
            self._interim = 0
            super().feed_data(data, size)
            return
        self._interim += 1
        if self._interim > _MOST_INTERIM:
            if self.transport is not None:
                self.transport.close()
            self.set_exception(HttpProcessingError(code=code, message=f"more than {_MOST_INTERIM} interim replies"))


def room(concurrency: int) -> tuple[int, int]:
    """How many requests may be in flight, and how many connections may be idle in addition.

    A connecting request may briefly hold two sockets, because it tries IPv6 and IPv4 in parallel.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    idle = max(_LEAST_IDLE, 4 * concurrency)
    if soft == resource.RLIM_INFINITY:
        return concurrency, idle
    free = soft - _in_use() - _SPARE
    under_way = max(1, min(concurrency, free // 3))
    return under_way, max(0, min(idle, free - 2 * under_way))


def _in_use() -> int:
    with contextlib.suppress(OSError):
        return len(os.listdir("/dev/fd"))
    return _SPARE


def is_own_shortage(error: Exception) -> bool:
    """Did a request fail because this machine has no descriptor, buffer or memory left for it?"""
    cause = getattr(error, "os_error", error)
    if not isinstance(cause, OSError):
        return False
    if cause.errno in _SHORTAGES:
        return True
    if cause.errno is not None:
        return False
    several = str(cause)  # several addresses failed in different ways, or the DNS library does not say why
    if several.startswith("Multiple exceptions:"):
        return any(f"[Errno {number}]" in several for number in _SHORTAGES)
    return isinstance(error, aiohttp.ClientConnectorDNSError) and not _can_open()


def _can_open() -> bool:
    try:
        socket.socket().close()
    except OSError as error:
        return error.errno not in _SHORTAGES
    return True
