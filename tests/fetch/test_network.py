"""Is anybody there? With real sockets on this machine, and with made-up answers of the name service."""

import socket
from typing import Any

import aiodns
import aiohttp
import pytest

from lycosa import config
from lycosa.fetch.network import Network


def network(**rules: Any) -> Network:
    return Network(config.Fetch(**{"allow_private": True, **rules}))


@pytest.fixture
def dead() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/"


async def test_a_server_accepts_a_connection_and_sees_no_request(server: Any) -> None:
    assert await network().reaches(f"{server.url}/page")
    assert await network().reaches(f"http://x.localhost:{server.port}/page")
    assert server.requests == []


async def test_where_nobody_listens(dead: str) -> None:
    assert not await network().reaches(dead)


async def test_behind_a_proxy_the_proxy_counts(server: Any, dead: str) -> None:
    assert await network(proxy=server.url).reaches("http://nowhere.example/")
    assert not await network(proxy=dead).reaches(f"{server.url}/")


async def test_a_private_address_is_not_connected_to(server: Any) -> None:
    assert not await network(allow_private=False).reaches(f"{server.url}/")
    assert server.connections == 0


@pytest.mark.parametrize(
    ("error", "answers"),
    [
        (aiodns.error.DNSError(4, "Domain name not found"), True),
        (aiodns.error.DNSError(1, "DNS server returned answer with no data"), True),
        (aiodns.error.DNSError(12, "Timeout while contacting DNS servers"), False),
        (aiodns.error.DNSError(11, "Could not contact DNS servers"), False),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), True),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), False),
    ],
)
async def test_no_such_name_is_an_answer_and_silence_is_not(
    error: Exception, answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Names(aiohttp.abc.AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
            if isinstance(error, socket.gaierror):
                raise error
            raise OSError(None, str(error.args[1])) from error

        async def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(aiohttp, "DefaultResolver", Names)
    assert await network().resolves("http://some.example/") == answers
    assert await network().resolves("http://127.0.0.1/")
    assert await network(proxy="http://127.0.0.1:8080").resolves("http://some.example/")  # the proxy looks it up
