"""A shard whose own hosts are all dead learns from the others that the network is not."""

import asyncio
import sys
from contextlib import closing
from pathlib import Path
from typing import cast

import msgspec
import pytest

from lycosa.fetch.outage import Outage
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.shards.messages import Answered
from lycosa.shards.network import MOST, Network
from lycosa.shards.routing import Routing
from lycosa.store.db import CrawlDb

HOSTS = [f"http://host{number}.example/" for number in range(40)]


class Answers:
    """In place of the layer that recognises outages."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def answered(self) -> list[str]:
        return self.urls

    def remember(self, urls: list[str]) -> None:
        self.urls += urls


def test_a_few_hosts_of_its_own_are_named_once_to_each_shard_and_again_to_one_that_was_restarted() -> None:
    routing, outage, sent = Routing(1, 3), Answers(), list[Answered]()
    own = [url for url in HOSTS if not routing.is_elsewhere(url)]
    network = Network(routing, cast(Outage, outage), sent.append)
    network.tell_again(0)
    network.told(Answered(2, 1, [url for url in HOSTS if routing.is_elsewhere(url)]))
    network.tell()
    assert sent == []
    for url in own:
        outage.urls += [url, f"{url}another"]
        network.tell()
        network.tell()
    assert sent == [Answered(1, shard, [f"{url}another"]) for url in own[:MOST] for shard in (0, 2)]
    network.tell_again(2)
    assert sent[-1] == Answered(1, 2, [f"{url}another" for url in own[:MOST]])


@pytest.mark.xdist_group("processes")
async def test_dead_hosts_of_one_shard_are_no_outage(tmp_path: Path) -> None:
    """By itself, that shard would wait for minutes, and then end the crawl because no host answers."""
    web = GeneratedWeb(pages=40, hosts=8, ip_hosts=True, seed=7, text=Text(size_bytes=(1_000, 2_000)))
    async with Server(web, bind="0.0.0.0") as server:
        routing = Routing(0, 2)
        alive, *others = web.seeds(server.port)
        others = [url for url in others if routing.owner(url) == routing.owner(alive)]
        dead = next(
            url
            for url in (f"http://127.0.0.{n}:9/" for n in range(90, 250))
            if routing.owner(url) != routing.owner(alive)
        )
        hosts = [url.split("/")[2].split(":")[0] for url in (alive, dead, *others)]
        (tmp_path / "crawl.toml").write_text(
            f"""
            seeds = {[alive, dead]!r}
            topic = {{ kind = "keywords", words = ["astronomy"] }}
            scope = {{ hosts = {hosts!r} }}
            limits = {{ pages = 0 }}
            run = {{ shards = 2 }}
            fetch = {{ delay_s = 0.0, backoff_s = 0.1, allow_private = true }}
            """
        )
        command = [sys.executable, "-m", "lycosa", "crawl", str(tmp_path)]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes())["ended"] == "frontier empty"
    with closing(CrawlDb(tmp_path / "crawl.db", readonly=True).open()) as db:
        [(error,)] = db.execute("SELECT error FROM visits WHERE url = ?", (dead,)).fetchall()
    assert error == "connect"
