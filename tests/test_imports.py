"""When things are imported: a running crawl imports nothing more, since that needs a file descriptor, and there may be
none left; and a command starts without what it does not need."""

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


def test_a_command_starts_without_what_it_does_not_need() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "lycosa", "crawl", "no-such-folder"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 2
    loaded = {line.rpartition("|")[2].strip() for line in found.stderr.splitlines()}
    assert "lycosa.run" in loaded
    assert not loaded & {"lycosa.shards.fleet", "lycosa.console", "pydantic", "sklearn", "scipy", "rdflib"}


def test_garbage_is_collected_again_after_the_imports() -> None:
    code = "import gc, sys, lycosa.__main__ as m\nsys.argv[1:] = ['--version']\ntry: m.main()\nexcept SystemExit: pass"
    found = subprocess.run([sys.executable, "-c", f"{code}\nprint(gc.isenabled())"], capture_output=True, text=True)
    assert found.stdout.split()[-1] == "True"
