"""Connections are bounded by what this process may open, and running out of them is nobody's failure."""

import asyncio
import contextlib
import errno
import os
import resource
import socket
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from lycosa import config
from lycosa.fetch import pool
from lycosa.fetch.http import Http
from lycosa.outcomes import EXHAUSTED
from lycosa.types import Link, Reply


class Sleeper:
    """Takes note of every pause, and takes no time; `wake` is called instead."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.wake: Callable[[], Any] = lambda: None

    def now(self) -> float:
        return 1_000.0 + sum(self.slept)

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.wake()
        await asyncio.sleep(0)


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@pytest.fixture
async def http(sleeper: Sleeper) -> AsyncIterator[Http]:
    rules = config.Fetch(allow_private=True)
    client = Http(rules, sleeper.now, sleep=sleeper)
    await client.open()
    yield client
    await client.close()


def runs_out(http: Http, times: int, number: int) -> None:
    """Let the first sockets fail, as if there were no descriptor left."""
    left = iter(range(times))

    def make(info: Any) -> socket.socket:
        if next(left, None) is not None:
            raise OSError(number, os.strerror(number))
        return socket.socket(*info[:3])

    http._pool._socket_factory = make


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_a_shortage_of_our_own_is_waited_for(server: Any, http: Http, sleeper: Sleeper, number: int) -> None:
    runs_out(http, 3, number)
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.status) == ("", 200)
    assert sleeper.slept == [0.1, 0.5, 1.0]
    assert reply.seconds == 0.0  # it was not the host that made us wait


async def test_a_shortage_that_lasts_has_a_name_of_its_own(server: Any, http: Http) -> None:
    runs_out(http, 100, errno.EMFILE)
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.status) == (EXHAUSTED, 0)
    assert server.connections == 0


@pytest.mark.parametrize("number", [errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES])
async def test_other_failures_are_the_hosts(server: Any, http: Http, sleeper: Sleeper, number: int) -> None:
    runs_out(http, 1, number)
    assert (await http.fetch(Link(server.url + "/"))).error == "connect"
    assert sleeper.slept == []


async def test_with_the_last_descriptor_gone_idle_connections_are_closed(
    server: Any, http: Http, sleeper: Sleeper
) -> None:
    """With real descriptors: all are taken but the one of an idle connection to another host."""
    assert (await http.fetch(Link(server.url + "/"))).error == ""
    other = await asyncio.start_server(server._serve, "127.0.0.2", server.port)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    sleeper.wake = lambda: [os.close(taken.pop()) for _ in taken[:4]]  # the server needs some of its own
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 20, limits[1]))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        reply = await http.fetch(Link(f"http://127.0.0.2:{server.port}/"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for descriptor in taken:
            os.close(descriptor)
        other.close()
    assert reply.error == ""
    assert sleeper.slept == [0.1]


async def test_a_name_server_that_cannot_be_asked_for_want_of_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    error = pool.aiohttp.ClientConnectorDNSError(None, OSError(None, "Could not contact DNS servers"))  # type: ignore[arg-type]
    assert not pool.is_own_shortage(error)

    def no_socket(*_: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(pool.socket, "socket", no_socket)
    assert pool.is_own_shortage(error)


def test_one_of_several_addresses_met_a_shortage() -> None:
    several = "Multiple exceptions: [Errno 101] Network is unreachable, [Errno 24] Too many open files"
    assert pool.is_own_shortage(OSError(several))
    assert not pool.is_own_shortage(OSError("Multiple exceptions: [Errno 101] x, [Errno 111] y"))
    assert not pool.is_own_shortage(ValueError("[Errno 24]"))


async def test_only_so_many_idle_connections_are_kept(server: Any, http: Http) -> None:
    http._pool.most_idle = 3
    addresses = [f"127.0.0.{number}" for number in range(2, 12)]
    others = [await asyncio.start_server(server._serve, address, server.port) for address in addresses]

    async def fetch(address: str) -> Reply:
        return await http.fetch(Link(f"http://{address}:{server.port}/"))

    try:
        for address in addresses:
            assert (await fetch(address)).error == ""
        assert [key.host for key in http._pool._conns] == addresses[-3:]
        await fetch(addresses[-3])
        assert server.connections == 10
        await fetch(addresses[0])  # its connection was closed long ago
        assert server.connections == 11
        assert [key.host for key in http._pool._conns] == [addresses[-1], addresses[-3], addresses[0]]
    finally:
        for other in others:
            other.close()


@pytest.mark.parametrize(
    ("limit", "concurrency", "under_way", "idle"),
    [
        (65_536, 64, 64, 256),
        (65_536, 256, 256, 1_024),
        (resource.RLIM_INFINITY, 256, 256, 1_024),
        (1_024, 256, 256, 470),
        (256, 64, 64, 86),
        (100, 64, 19, 20),
        (40, 64, 1, 0),
    ],
)
def test_descriptors_are_shared_out(
    monkeypatch: pytest.MonkeyPatch, limit: int, concurrency: int, under_way: int, idle: int
) -> None:
    monkeypatch.setattr(pool.resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(pool, "_in_use", lambda: 10)
    assert pool.room(concurrency) == (under_way, idle)
    if limit > 100:
        assert 2 * under_way + idle + 10 + 32 <= limit or limit == resource.RLIM_INFINITY


async def test_waiting_for_a_place_is_no_timeout(
    server: Any, answer: Any, let_pass: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lycosa.fetch.http.room", lambda _: (1, 0))
    most, now = 0, 0

    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        for _ in range(10):
            let_pass(6.0)  # longer than a connection may take
            await asyncio.sleep(0)
        now -= 1
        await answer(b"<p>hello")(path, headers, writer)

    server.handle = handle
    client = Http(config.Fetch(allow_private=True, connect_s=30.0, read_s=0.0, total_s=0.0), time.time)
    await client.open()
    try:
        replies = await asyncio.gather(*(client.fetch(Link(f"{server.url}/{n}")) for n in range(5)))
    finally:
        await client.close()
    assert [reply.error for reply in replies] == [""] * 5
    assert most == 1


async def test_interim_answers_are_passed_over(server: Any, http: Http, answer: Any) -> None:
    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 20 + b"HTTP/1.1 100 Continue\r\n\r\n")
        await answer(b"<p>hello")(path, headers, writer)

    server.handle = handle
    for number in range(3):  # they are counted for each answer, not for each connection
        reply = await http.fetch(Link(f"{server.url}/{number}"))
        assert (reply.error, reply.body) == ("", b"<p>hello")
    assert server.connections == 1


async def test_a_flood_of_interim_answers_is_left(server: Any, http: Http) -> None:
    sent = 0

    async def handle(path: str, headers: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 10)
            sent += 10
            await writer.drain()
            await asyncio.sleep(0)

    server.handle = handle
    reply = await http.fetch(Link(server.url + "/"))
    assert (reply.error, reply.status) == ("protocol", 0)
    assert "more than 32 interim replies" in reply.detail
    assert sent < 100_000
