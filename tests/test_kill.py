"""A crawl that is killed at random moments ends like one that was left in peace. Real processes, a real SIGKILL."""

import asyncio
import random
import signal
from pathlib import Path

import pytest
from tests.killing import Watch, assert_equal, assert_polite, finish, start, visits, web, write_folder

from lycosa.lab.serve import Server

PAGES, HOSTS = 2_000, 40
KILLS = 10


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_killed_ten_times_it_ends_like_one_left_in_peace(tmp_path: Path) -> None:
    chance, watch, site = random.Random(7), Watch(), web(PAGES, HOSTS, (2_000, 6_000))
    async with Server(site, bind="0.0.0.0", log=watch) as server:
        seeds = site.seeds(server.port)
        peaceful = write_folder(tmp_path / "peaceful", seeds)
        await finish(await start(peaceful))
        expected = visits(peaceful)
        assert len(expected) > 1_500

        watch.times.clear()
        disturbed = write_folder(tmp_path / "disturbed", seeds)
        for _ in range(KILLS):
            rang = asyncio.ensure_future(watch.more(chance.randint(1, PAGES // KILLS)))
            process = await start(disturbed)
            ended = asyncio.ensure_future(process.wait())
            await asyncio.wait([ended, rang], return_when=asyncio.FIRST_COMPLETED)
            assert rang.done(), "the crawl ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            await ended
        await finish(await start(disturbed))
    assert_equal(expected, disturbed)
    assert_polite(watch.times)
