"""A running crawl imports nothing more: an import needs a file descriptor, and there may be none left."""

import subprocess
import sys

SCRIPT = """
import asyncio, sys, tempfile
from pathlib import Path
from lycosa import config
from lycosa.clock import WallClock
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.serve import Server
from lycosa.run import Run
from lycosa.types import Visit

at_start = []

class Watch:
    pages = 0
    def write(self, visit: Visit) -> None:
        self.pages += visit.is_page
        if self.pages == 1 and not at_start:
            at_start.extend(sys.modules)

async def crawl(folder: Path, strategy: str) -> None:
    web = GeneratedWeb(hosts=20, pages=400, seed=1)
    async with Server(web) as server:
        settings = config.Config(
            seeds=web.seeds(80, 3),
            topic={"kind": "keywords", "words": web.words_of("astronomy")[:8]},
            strategy={"kind": strategy},
            fetch=config.Fetch(proxy=f"http://127.0.0.1:{server.port}", delay_s=0.0, allow_private=True),
            limits=config.Limits(pages=60, recall=0.9),
        )
        run = Run(folder, settings, config.Source(folder / config.NAME, ""), WallClock(), [Watch()])
        summary = await run.run([], lambda report: None)
        assert summary["pages"] >= 60, summary

for strategy in ("best-first", "learned"):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawl(Path(folder), strategy))
print(*sorted(set(sys.modules) - set(at_start)))
"""


def test_after_its_first_page_a_crawl_imports_nothing() -> None:
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.split() == []
