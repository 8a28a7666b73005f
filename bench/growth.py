"""Crawl one folder and write a row about every tenth of a second: pages, known URLs, CPU seconds, resident MB.

The command line reports once a second; ten thousand URLs are known long before that.

    python bench/growth.py DIR rows.json
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import uvloop

from lycosa import config
from lycosa.clock import WallClock
from lycosa.run import Run

EVERY_S = 0.1


async def crawl(folder: Path) -> list[tuple[int, int, float, float]]:
    settings, source = config.load(folder)
    run = Run(folder, settings, source, WallClock())
    rows: list[tuple[int, int, float, float]] = []

    async def sample() -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            known = run.parts.frontier.status().known
            rows.append((run.parts.totals.pages, known, time.process_time(), resident_mb()))

    sampling = asyncio.ensure_future(sample())
    try:
        await run.run([], lambda summary: None)
    finally:
        sampling.cancel()
    return rows


def resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(uvloop.run(crawl(Path(sys.argv[1])))))
