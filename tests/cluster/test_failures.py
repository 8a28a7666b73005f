"""Three Ray nodes on one machine, and what happens to a crawl when parts of them are killed: nothing is lost but the
last interval, nothing is stored twice, and no host is contacted sooner than its delay."""

import asyncio
import os
import signal
import socket
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.killing import assert_equal, assert_polite, visits

from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server
from lycosa.shards.routing import Routing

PAGES, HOSTS, DELAY_S, SHARDS = 450, 30, 0.3, 3
WEB = GeneratedWeb(
    pages=PAGES,
    hosts=HOSTS,
    ip_hosts=True,
    seed=7,
    text=Text(size_bytes=(1_000, 2_000)),
    oddities=Oddities(redirects=0.05, duplicates=0.05),
)
NODE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80_000_000}


class Log:
    """The server's own log: when each host was contacted."""

    def __init__(self) -> None:
        self.requests: dict[str, list[float]] = defaultdict(list)
        self._by_shard: dict[int, int] = defaultdict(int)
        self._waiting: list[tuple[int, int, asyncio.Event]] = []
        self._routing = Routing(0, SHARDS)

    def __call__(self, when: float, host: str, path: str) -> None:
        self.requests[host].append(when)
        shard = self._routing.owner(f"http://{host}/")
        self._by_shard[shard] += 1
        for wanted, count, event in self._waiting:
            if wanted == shard and self._by_shard[shard] >= count:
                event.set()

    async def more(self, shard: int, requests: int) -> None:
        """Wait for requests to the hosts of a shard."""
        event = asyncio.Event()
        self._waiting.append((shard, self._by_shard[shard] + requests, event))
        await event.wait()


class Crawl:
    """A crawl on the cluster, as a user starts it."""

    def __init__(self, folder: Path, seeds: list[str], address: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "seeds.txt").write_text("\n".join(seeds))
        (folder / "crawl.toml").write_text(
            f"""
            seeds = "seeds.txt"
            topic = {{ kind = "keywords", words = ["astronomy", "telescope"] }}
            strategy = {{ kind = "best-first" }}
            limits = {{ pages = 0 }}
            [run]
            shards = {SHARDS}
            order = "loose"
            store = "../store"
            cluster = "{address}"
            [fetch]
            focus = 0
            delay_s = {DELAY_S}
            delay_factor = 0.0
            allow_private = true
            retries = 1
            backoff_s = 0.2
            """
        )

    async def start(self, *options: str) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lycosa", "crawl", str(self.folder), *options),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    async def finish(self) -> None:
        _, errors = await self.process.communicate()
        assert self.process.returncode == 0, errors.decode()

    def process_of(self, shard: int) -> int:
        """The process of a shard on its node; 0 while it has none."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            is_ours = b"lycosa.shards" in words and str(self.folder.parent).encode() in words[-2]
            if is_ours and msgspec.json.decode(words[-2])["shard"] == shard:
                found.append(int(path.parent.name))
        assert len(found) <= 1, f"shard {shard} runs twice"
        return found[0] if found else 0

    async def successor(self, shard: int, before: int) -> int:
        """The next process of a shard; at no time there are two of them."""
        while (pid := self.process_of(shard)) in (0, before):
            assert self.process.returncode is None
            await asyncio.sleep(0.1)
        return pid


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(other for child in children for other in tree(int(child)))]


def kill(*pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def kill_and_wait(*pids: int) -> None:
    """Kill processes, and wait until they have given up their ports."""
    kill(*pids)
    while any(is_running(pid) for pid in pids):
        await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def port_below_ephemeral() -> int:
    """A free port for the head that no client is given: while the head is down, nodes that call it in vain would
    otherwise be given its very port as their own end sooner or later, and it could not start again."""
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in range(min(first_ephemeral, 32_768) - 1, 1_024, -1):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("0.0.0.0", port))
            return port
    raise AssertionError("no free port")


def processes_of(node: Any) -> list[int]:
    own = [info.process.pid for infos in node.all_processes.values() for info in infos]
    return [pid for one in own if Path(f"/proc/{one}").exists() for pid in tree(one)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"gcs_server_port": port_below_ephemeral()})
    for _ in range(2):
        cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


async def expected(tmp_path: Path, seeds: list[str]) -> list[tuple[str, str, str]]:
    """The visits of a crawl left in peace, here and without delay."""
    peaceful = Crawl(tmp_path / "peaceful", seeds, "")
    await peaceful.start("--set", "run.shards=1", "--set", "fetch.delay_s=0")
    await peaceful.finish()
    return visits(peaceful.folder)


async def test_a_node_killed_whole_and_then_a_raylet_alone(tmp_path: Path, cluster: Any) -> None:
    log = Log()
    async with Server(WEB, bind="0.0.0.0", log=log) as server:
        seeds = WEB.seeds(server.port)
        undisturbed = await expected(tmp_path, seeds)
        log.requests.clear()
        crawl = Crawl(tmp_path / "crawl", seeds, cluster.address)
        await crawl.start()
        ended = asyncio.ensure_future(crawl.finish())

        await until(ended, *(log.more(shard, 15) for shard in range(SHARDS)))
        raylets = {shard: parent(parent(crawl.process_of(shard))) for shard in range(SHARDS)}
        assert len(set(raylets.values())) > 1, "all shards are on one node"  # each on its own, unless one was restarted
        nodes = {node.all_processes["raylet"][0].process.pid: node for node in cluster.worker_nodes}
        lost = next(shard for shard, raylet in raylets.items() if raylet in nodes)
        shard = crawl.process_of(lost)
        kill(*processes_of(nodes[raylets[lost]]))
        shard = await crawl.successor(lost, shard)
        await until(ended, log.more(lost, 15))

        kill(parent(parent(shard)))
        assert crawl.process_of(lost) == shard, "the shard outlives its raylet: without a lease, two would run"
        await crawl.successor(lost, shard)
        await ended
    assert_equal(undisturbed, crawl.folder)
    assert_polite(log.requests, DELAY_S)


async def until(ended: "asyncio.Future[None]", *events: Any) -> None:
    """Wait for events that come before the end of the crawl."""
    waiting = asyncio.gather(*events)
    await asyncio.wait([ended, waiting], return_when=asyncio.FIRST_COMPLETED)
    if ended.done():
        ended.result()
    assert waiting.done(), "the crawl ended too soon"


async def test_the_head_killed_and_restarted(tmp_path: Path, cluster: Any) -> None:
    """All that Ray knew of its cluster is gone; the crawl goes on once there is a cluster at its address again."""
    log = Log()
    async with Server(WEB, bind="0.0.0.0", log=log) as server:
        seeds = WEB.seeds(server.port)
        undisturbed = await expected(tmp_path, seeds)
        log.requests.clear()
        crawl = Crawl(tmp_path / "crawl", seeds, cluster.address)
        await crawl.start()
        ended = asyncio.ensure_future(crawl.finish())
        await until(ended, *(log.more(shard, 15) for shard in range(SHARDS)))
        port = int(cluster.address.rpartition(":")[2])
        await kill_and_wait(*processes_of(cluster.head_node))
        cluster.head_node = None
        cluster.add_node(gcs_server_port=port, **NODE)
        await ended
    assert_equal(undisturbed, crawl.folder)
    assert_polite(log.requests, DELAY_S)
