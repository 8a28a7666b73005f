"""Parts of other packages in a crawl, from crawl.toml to what they leave behind; and each of them broken."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lycosa import config, plugins
from lycosa.api.folder import CrawlFolder
from lycosa.lab.answer import Answer
from lycosa.lab.serve import Server
from lycosa.plugged import PluggedEngine
from lycosa.plugins import BrokenPlugin, Plugins
from lycosa.run import Run
from lycosa.seeds.engines import EngineFailure
from lycosa.types import BadInput

Install = Callable[[str, str, dict[str, dict[str, str]]], Path]
ADDONS = """
import json
from dataclasses import dataclass
from msgspec.structs import replace
from lycosa.text import words
from lycosa.types import Explanation, Link, Page, Verdict

class Cards:
    def parse(self, reply):
        text = reply.body.decode()
        return Page(reply.url, "card", text, tuple(words(text)))

class Lines:
    def open(self, folder): self.file = (folder / "lines.txt").open("a")
    def write(self, visit): self.file.write(visit.reply.link.url + "\\n")
    def close(self): self.file.close()

class Full:
    def write(self, visit): raise OSError("no room\\nat all")

class Shut:
    def write(self, visit): pass
    def close(self): raise ValueError("cannot be shut")

class Loud:
    def __init__(self, inner): self.inner = inner
    async def fetch(self, link):
        reply = await self.inner.fetch(link)
        return replace(reply, body=reply.body.upper())

class Twice(Loud):
    async def fetch(self, link):
        reply = await self.inner.fetch(link)
        return replace(reply, body=reply.body + reply.body)

class Silent(Loud):
    async def fetch(self, link): return None

class Bad(Loud):
    async def fetch(self, link): raise RuntimeError("no browser here")

class Needy:
    def __init__(self): raise KeyError("token")
    def write(self, visit): pass

class Found:
    def __init__(self, rules): self.rules = rules
    async def search(self, query, site, k): return [self.rules.url + "found", 7][:k]

class Down(Found):
    async def search(self, query, site, k): raise ConnectionError("refused")

@dataclass
class Counts:
    seen: int = 0
    def score(self, visit): return [1.0] * len(visit.page.links)
    def merge(self, waiting, found): return max(waiting, found)
    def learn(self, visit): self.seen += 1
    def save(self): return {"seen": self.seen}
    def load(self, state): self.seen = state["seen"]
    def learned(self): return {"visits": {"so many": self.seen / 1}}
    def explain(self, scored, notes): return Explanation("all links are equal")

@dataclass
class Mumbles(Counts):
    def learned(self): raise KeyError("lost")
    def explain(self, scored, notes): raise KeyError("lost")

@dataclass
class Late:
    async def judge(self, page): return Verdict()
    def prepare(self, folder, read): raise LookupError("no model")
"""
GROUPS = {
    "lycosa.parsers": {"text/vcard": "addons:Cards"},
    "lycosa.sinks": {
        "lines": "addons:Lines",
        "full": "addons:Full",
        "shut": "addons:Shut",
        "needy": "addons:Needy",
    },
    "lycosa.fetchers": {
        "loud": "addons:Loud",
        "twice": "addons:Twice",
        "silent": "addons:Silent",
        "bad": "addons:Bad",
    },
    "lycosa.engines": {"found": "addons:Found", "down": "addons:Down"},
    "lycosa.judges": {"late": "addons:Late"},
    "lycosa.strategies": {"counts": "addons:Counts", "mumbles": "addons:Mumbles"},
}
PAGES = {
    "/": ("text/html", b'<title>home</title><p>galaxy <a href="/card.vcf">card</a> <a href="/b.zip">b</a>'),
    "/card.vcf": ("text/vcard", b"galaxy galaxy galaxy"),
    "/found": ("text/html", b"<title>found</title><p>galaxy"),
}


class Site:
    """A few pages on one host."""

    def respond(self, url: str, headers: object) -> Answer:
        kind, body = PAGES.get("/" + url.split("/", 3)[3], ("", b""))
        return Answer(200 if body else 404, (("Content-Type", kind),), body)


def lycosa(addons: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(addons)}
    return subprocess.run([sys.executable, "-m", "lycosa", *command], env=environment, capture_output=True, text=True)


@pytest.fixture
def addons(install: Install) -> Path:
    return install("addons", ADDONS, GROUPS)


def write(folder: Path, port: int, **sections: dict[str, object]) -> CrawlFolder:
    fetch = {"delay_s": 0.0, "allow_private": True, "concurrency": 2, **sections.pop("fetch", {})}
    topic = sections.pop("topic", {"kind": "keywords", "words": ["galaxy"]})
    return CrawlFolder.new(folder, [f"http://127.0.0.1:{port}/"], topic, fetch=fetch, **sections)


async def test_a_parser_reads_its_content_type_and_its_suffix_is_no_longer_skipped(
    addons: Path, tmp_path: Path
) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port)
        summary = await folder.crawl_async()
    assert summary["pages"] == 2
    rows = {row["url"].rpartition("/")[2]: row for row in folder.pages()}
    assert rows["card.vcf"]["title"] == "card"
    assert rows["card.vcf"]["relevance"] > rows[""]["relevance"]
    assert folder.page(rows["card.vcf"]["url"]).text == "galaxy galaxy galaxy"


async def test_a_large_document_is_parsed_aside_by_the_same_parser(
    addons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(addons))  # for the process that parses
    monkeypatch.setitem(PAGES, "/card.vcf", ("text/vcard", b"galaxy " * 40_000))
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port)
        summary = await folder.crawl_async()
    assert summary["pages"] == 2
    assert "card" in [row["title"] for row in folder.pages()]


async def test_without_the_parser_it_is_skipped(tmp_path: Path) -> None:
    async with Server(Site()) as server:
        summary = await write(tmp_path / "c", server.port).crawl_async()
    assert summary["pages"] == 1


async def test_a_list_of_suffixes_that_somebody_wrote_holds(addons: Path, tmp_path: Path) -> None:
    async with Server(Site()) as server:
        summary = await write(tmp_path / "c", server.port, scope={"skip_suffixes": ["vcf", "zip"]}).crawl_async()
    assert summary["pages"] == 1


async def test_a_sink_receives_every_visit_of_every_run(addons: Path, tmp_path: Path) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, store={"sinks": ["lines"]}, limits={"pages": 1})
        await folder.crawl_async()
        await folder.crawl_async(changes={"limits.pages": 10})
        folder.rejudge()
    lines = (folder.path / "lines.txt").read_text().splitlines()
    assert [line.rpartition("/")[2] for line in lines] == ["", "card.vcf"]


async def test_a_sink_that_fails_ends_the_crawl_between_two_turns(addons: Path, tmp_path: Path) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, store={"sinks": ["full", "lines"]})
        with pytest.raises(BrokenPlugin, match=r"sink 'full' of package addons .*write: OSError: no room at all"):
            await folder.crawl_async()
        assert [row["url"] for row in folder.pages()] == [f"http://127.0.0.1:{server.port}/"]
        assert folder.summary["ended"] == "the sink 'full' failed"
        assert (await folder.crawl_async(changes={"store.sinks": ["lines"]}))["pages"] == 2


async def test_a_sink_that_cannot_be_closed_is_named(addons: Path, tmp_path: Path) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, store={"sinks": ["shut", "lines"]})
        with pytest.raises(BrokenPlugin, match=r"sink 'shut' .*close: ValueError: cannot be shut"):
            await folder.crawl_async()
    assert len((folder.path / "lines.txt").read_text().splitlines()) == 2


async def test_layers_wrap_each_other_the_first_outermost(addons: Path, tmp_path: Path) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, fetch={"layers": ["loud", "twice"]})
        await folder.crawl_async(changes={"limits.pages": 1})
        (visit,) = folder.visits()
    assert visit.page.title == "home"  # the stored copy is what the server sent
    (row,) = folder.pages()
    assert row["title"] == "HOME"


@pytest.mark.parametrize(
    ("layer", "problem"), [("bad", "RuntimeError: no browser here"), ("silent", "returned NoneType")]
)
async def test_a_layer_that_fails_ends_the_crawl_in_one_line(
    addons: Path, tmp_path: Path, layer: str, problem: str
) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, fetch={"layers": [layer]})
        with pytest.raises(BrokenPlugin, match=f"fetch layer '{layer}' of package addons .*fetch: {problem}"):
            await folder.crawl_async()


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"store": {"sinks": ["nobody"]}}, r"store.sinks: there is no sink 'nobody' \(there are: .*lines"),
        ({"fetch": {"layers": ["nobody"]}}, r"fetch.layers: there is no fetch layer 'nobody' \(there are: .*loud"),
        ({"search": {"engine": "nobody"}}, r"search.engine: there is no search engine 'nobody' .*found.* searxng"),
        ({"store": {"sinks": ["needy"]}}, "sink 'needy' of package addons .*KeyError: 'token'"),
        ({"topic": {"kind": "late"}}, "judge 'late' of package addons .*prepare: LookupError: no model"),
    ],
)
def test_what_cannot_be_made_is_said_before_anything_is_fetched(
    addons: Path, tmp_path: Path, sections: dict[str, dict[str, object]], problem: str
) -> None:
    folder = write(tmp_path / "c", 1, **sections)
    with pytest.raises(BadInput, match=problem):
        folder.crawl()
    done = lycosa(addons, "crawl", str(folder.path))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr


async def test_an_engine_is_asked_through_the_search_step(addons: Path, tmp_path: Path, clock: object) -> None:
    async with Server(Site()) as server:
        search = {"engine": "found", "url": f"http://127.0.0.1:{server.port}/", "alpha": 1, "delay_s": 0.0}
        folder = write(tmp_path / "c", server.port, search=search)
        await folder.crawl_async()
    assert {row["url"].rpartition("/")[2] for row in folder.pages()} == {"", "card.vcf", "found"}


async def test_an_engine_that_fails_rests(addons: Path) -> None:
    kinds = Plugins(plugins.ENGINE)
    engine = PluggedEngine(kinds, "down", kinds.make("down", None))
    await engine.open()
    with pytest.raises(EngineFailure, match="ConnectionError: refused"):
        await engine.search("galaxy", "", 3)
    await engine.close()


def test_a_robots_txt_is_never_left_to_a_layer(addons: Path, tmp_path: Path, clock: object) -> None:
    folder = write(tmp_path / "c", 1, fetch={"layers": ["bad"]})
    settings, source = config.load(folder.path)
    parts = Run(folder.path, settings, source, clock).parts  # type: ignore[arg-type]
    layers = parts.outage.inner  # type: ignore[attr-defined]
    asked: list[str] = []

    class Http:
        async def fetch(self, link: object, accept: tuple[str, ...], most: int) -> str:
            asked.append(accept[0])
            return "rules"

    layers._http = Http()
    assert asyncio.run(layers.fetch("link", ("text/plain",), 5)) == "rules"
    assert asked == ["text/plain"]


@pytest.mark.parametrize("kind", ["counts", "mumbles"])
async def test_show_and_why_tell_what_a_strategy_says_of_itself(addons: Path, tmp_path: Path, kind: str) -> None:
    async with Server(Site()) as server:
        folder = write(tmp_path / "c", server.port, strategy={"kind": kind})
        await folder.crawl_async()
    shown = lycosa(addons, "show", str(folder.path))
    why = lycosa(addons, "why", str(folder.path), f"http://127.0.0.1:{server.port}/card.vcf")
    if kind == "counts":
        assert "learned: visits" in shown.stdout
        assert next(line for line in shown.stdout.splitlines() if "so many" in line).split()[0].startswith("+2.0")
        assert "etched because all links are equal" in why.stdout
        return
    for done, doing in ((shown, "learned"), (why, "explain")):
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert f"strategy 'mumbles' of package addons (lycosa.strategies: addons:Mumbles): {doing}: KeyError" in line
