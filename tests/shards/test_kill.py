"""Shards that are killed at random moments: the crawl ends like one left in peace. Real processes, a real SIGKILL."""

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest
from tests.killing import Watch, assert_equal, assert_polite, fetched, finish, start, visits, web, write_folder

from lycosa.lab.serve import Server

PAGES, HOSTS = 2_000, 80
KILLS, SHARDS = 10, 3


def shard_pids(fleet: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{fleet}/task/{fleet}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_shards_killed_ten_times_end_like_a_crawl_left_in_peace(tmp_path: Path) -> None:
    chance, watch, site = random.Random(7), Watch(), web(PAGES, HOSTS, (1_000, 3_000))
    run = 'shards = {}\norder = "loose"'
    async with Server(site, bind="0.0.0.0", log=watch) as server:
        seeds = site.seeds(server.port)
        peaceful = write_folder(tmp_path / "peaceful", seeds, run.format(1), "focus = 0")
        await finish(await start(peaceful))
        expected = visits(peaceful)
        assert len(fetched(expected)) == PAGES

        watch.times.clear()
        disturbed = write_folder(tmp_path / "disturbed", seeds, run.format(SHARDS), "focus = 0")
        fleet = await start(disturbed)
        ended = asyncio.ensure_future(finish(fleet))
        for _ in range(KILLS):
            rang = asyncio.ensure_future(watch.more(chance.randint(1, PAGES // KILLS)))
            await asyncio.wait([ended, rang], return_when=asyncio.FIRST_COMPLETED)
            assert not ended.done(), "the crawl ended before a shard could be killed"
            os.kill(chance.choice(shard_pids(fleet.pid)), signal.SIGKILL)
        await ended
    assert_equal(expected, disturbed)
    assert_polite(watch.times)
