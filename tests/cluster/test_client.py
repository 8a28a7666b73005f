"""A crawl started outside of the cluster, through Ray's client: `--cluster ray://HOST:PORT`."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.shards.layout import homes
from lycosa.store import visited
from lycosa.store.db import CrawlDb

HEAD = """
from ray.cluster_utils import Cluster

head = {{"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80_000_000}}
cluster = Cluster(initialize_head=True, head_node_args=head | {{"ray_client_server_port": {port}}})
print("ready", flush=True)
input()
cluster.shutdown()
"""
WEB = GeneratedWeb(pages=60, hosts=8, ip_hosts=True, seed=5, text=Text(size_bytes=(1_000, 2_000)))


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server of Ray's client, on a cluster of one node; Ray leaves files open, so in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HEAD.format(port=port)], **pipes) as head:
        assert any(line == "ready\n" for line in head.stdout)
        yield port
        head.communicate("\n")


async def test_a_crawl_from_outside_of_the_cluster(tmp_path: Path, port: int) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    async with Server(WEB, bind="0.0.0.0") as server:
        (folder / "crawl.toml").write_text(
            f"""
            seeds = {WEB.seeds(server.port)!r}
            topic = {{ kind = "keywords", words = ["astronomy"] }}
            limits = {{ pages = 40 }}
            run = {{ shards = 2, store = "../store" }}
            fetch = {{ delay_s = 0.0, delay_factor = 0.0, allow_private = true }}
            """
        )
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lycosa", "crawl", str(folder), "--cluster", f"ray://127.0.0.1:{port}"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
    assert process.returncode == 0, output.decode() + (folder / "cluster.log").read_text()
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        assert visited.tally(db).pages == 40
    assert all((home / "warc").exists() for home in homes(folder))
