"""A robots.txt that has moved to a host of another shard is obeyed, and its own shard alone contacts that host."""

import asyncio
import itertools
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.lab.answer import Answer
from lycosa.lab.serve import Server
from lycosa.shards import loans
from lycosa.shards.loans import Loans
from lycosa.shards.messages import Lend, Lent
from lycosa.shards.routing import Routing, shard_of_host
from lycosa.store.db import CrawlDb
from lycosa.types import Deferred, Link, Reply

HOSTS = [f"127.0.0.{number}" for number in range(1, 9)]
MAIN = HOSTS[0]
DELAY_S = 0.2


class Moved:
    """Hosts that all redirect their robots.txt to the next one, and that to the first, which has it."""

    def __init__(self) -> None:
        self.asked: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def log(self, when: float, host: str, path: str) -> None:
        self.asked[host.split(":")[0]].append((when, path))

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        host, path = url.split("/", 3)[2], "/" + url.split("/", 3)[3]
        name, port = host.split(":")
        if path != "/robots.txt":
            links = "".join(
                f'<a href="http://{other}:{port}/{page}">x</a>' for other in HOSTS for page in ("a", "private")
            )
            return Answer(body=f"<title>{url}</title><p>{url}{links}".encode())
        if name == MAIN:
            return Answer(headers=(("Content-Type", "text/plain"),), body=b"User-agent: *\nDisallow: /private\n")
        following = HOSTS[0] if HOSTS.index(name) > 2 else HOSTS[HOSTS.index(name) - 1]
        return Answer(301, (("Location", f"http://{following}:{port}/robots.txt"),))


@pytest.mark.xdist_group("processes")
async def test_the_rules_of_another_host_hold(tmp_path: Path) -> None:
    web = Moved()
    assert {shard_of_host(host, 2) for host in HOSTS[1:]} == {0, 1}
    async with Server(web, bind="0.0.0.0", log=web.log) as server:
        await crawl(tmp_path, server.port)
    with closing(CrawlDb(tmp_path / "crawl.db", readonly=True).open()) as db:
        errors = dict(db.execute("SELECT url, error FROM visits"))
    for host in HOSTS:
        assert errors[f"http://{host}:{server.port}/a"] == ""
        assert errors[f"http://{host}:{server.port}/private"] == "robots"
        times = [when for when, _ in web.asked[host]]
        assert all(after - before >= DELAY_S - 0.001 for before, after in itertools.pairwise(times)), host
        assert not any(path == "/private" for _, path in web.asked[host])


async def crawl(folder: Path, port: int) -> None:
    (folder / "crawl.toml").write_text(
        f"""
        seeds = ["http://{HOSTS[-1]}:{port}/"]
        topic = {{ kind = "keywords", words = ["telescope"] }}
        strategy = {{ kind = "breadth-first" }}
        run = {{ shards = 2 }}
        fetch = {{ delay_s = {DELAY_S}, delay_factor = 0.0, allow_private = true }}
        """
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lycosa", "crawl", str(folder)), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


class Inner:
    """In place of the network and of the frontier."""

    def __init__(self, *replies: Reply | Deferred) -> None:
        self.replies = [*replies]
        self.noted: list[Reply] = []
        self.inner = self
        self.left = 0

    async def fetch(self, link: Link, accept: object, most: int) -> Reply | Deferred:
        return self.replies.pop(0)

    def recall(self, url: str) -> Reply | None:
        return self.noted[0] if self.noted else None

    def note(self, url: str, reply: Reply) -> None:
        self.noted.append(reply)

    async def enter(self, url: str) -> Any:
        return None if "closed" in url else SimpleNamespace(name=url)

    def leave(self, host: object, reply: Reply) -> None:
        self.left += 1


def make(me: int, *replies: Reply | Deferred) -> tuple[Loans, list[Any], Inner]:
    sent: list[Any] = []
    inner = Inner(*replies)
    return Loans(Routing(me, 2), inner, inner, sent.append), sent, inner  # type: ignore[arg-type]


def host_of(shard: int) -> str:
    return next(f"http://h{number}.org" for number in range(99) if shard_of_host(f"h{number}.org", 2) == shard)


async def test_a_file_is_fetched_once_after_failures_that_may_pass() -> None:
    url = f"{host_of(1)}/robots.txt"
    found = Reply(Link(url), url, 200, body=b"rules")
    here, sent, inner = make(1, Deferred(Reply(Link(url), error="disconnected"), url), found)
    for _ in range(2):
        await here.lend(Lend(0, 1, url))
    assert sent == [Lent(1, 0, url, 200, "", "", b"rules")] * 2
    assert inner.left == 2, "the host rested after each of two requests; the second question needed none"
    await make(1)[0].lend(Lend(0, 1, "http://closed/robots.txt"))


async def test_the_question_is_asked_once_and_again_if_its_shard_was_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{host_of(1)}/robots.txt"
    there, sent, _ = make(0)
    asking = [asyncio.ensure_future(there.fetch(url)) for _ in range(2)]
    await asyncio.sleep(0)
    assert sent == [Lend(0, 1, url)]
    there.ask_again(0)
    there.ask_again(1)
    assert sent == [Lend(0, 1, url)] * 2
    there.told(Lent(1, 0, url, 301, "", "/elsewhere", b""))
    there.told(Lent(1, 0, url, 301, "", "/elsewhere", b""))
    assert [(reply.status, reply.detail) for reply in await asyncio.gather(*asking)] == [(301, "/elsewhere")] * 2
    monkeypatch.setattr(loans, "WAIT_S", 0.0)
    assert (await there.fetch(url)).error == "timeout"
