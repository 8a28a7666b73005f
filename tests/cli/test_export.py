"""Tables and maps of what a crawl found, as a user asks for them."""

import asyncio
import csv
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet
import pytest
import rdflib

from lycosa import cli
from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server
from lycosa.ontology.xtm import read_pages, read_subjects

MAP = """
<topicMap xmlns="http://www.topicmaps.org/xtm/" version="2.0">
<topic id="sky"><name><value>astronomy</value></name></topic>
<topic id="lens"><name><value>telescope</value></name></topic>
<topic id="orbit"><name><value>planet</value></name></topic>
</topicMap>
"""
KEYWORDS = '[topic]\nkind = "keywords"\nwords = ["astronomy", "telescope"]\n'
ONTOLOGY = '[topic]\nkind = "ontology"\nfile = "map.xtm"\nlimit = 0.005\n'
COLUMNS = (
    "n url final_url status error fetched_at seconds bytes content_type digest depth source anchor score relevance"
    " on_topic label title language duplicate_of"
).split()


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Awaitable[Outcome]]


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in this process, beside a server that runs in this test's loop."""

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Outcome(code, *capfd.readouterr())

    return lambda *arguments: asyncio.to_thread(call, *arguments)


@pytest.fixture
async def crawled(lycosa: Call, tmp_path: Path) -> Any:
    """Crawls a generated web with the topic a test gives it."""
    oddities = Oddities(redirects=0.1, duplicates=0.1)
    web = GeneratedWeb(
        pages=60, hosts=4, ip_hosts=True, seed=3, text=Text(size_bytes=(1_000, 3_000)), oddities=oddities
    )
    async with Server(web, bind="0.0.0.0") as server:

        async def crawl(topic: str = KEYWORDS, more: str = "") -> Path:
            folder = tmp_path / "mycrawl"
            folder.mkdir()
            (folder / "map.xtm").write_text(MAP)
            fetch = "[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\nretries = 0\n"
            seeds = [*web.seeds(server.port), "http://127.0.0.1:9/"]
            (folder / "crawl.toml").write_text(f"seeds = {seeds!r}\n{topic}{fetch}{more}")
            outcome = await lycosa("crawl", folder, "--pages", "45")
            assert outcome.code == 0, outcome.err
            return folder

        yield crawl


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


async def test_pages_in_every_format(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    folder = await crawled()
    found = rows(await lycosa("export", folder))
    assert list(found[0]) == COLUMNS
    assert found[0]["score"] is None  # a seed
    assert {row["status"] for row in found} == {200}
    assert sum(not row["duplicate_of"] for row in found) == 45
    await lycosa("export", folder, "--format", "csv", "--out", tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["url"] for row in table] == [row["url"] for row in found]
    await lycosa("export", folder, "--format", "parquet", "--out", tmp_path / "x.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "x.parquet").column_names == COLUMNS


async def test_failures_are_left_out_unless_asked_for(crawled: Any, lycosa: Call) -> None:
    folder = await crawled()
    assert {row["error"] for row in rows(await lycosa("export", folder))} == {""}
    every = rows(await lycosa("export", folder, "--errors", "--columns", "url,error,detail"))
    (failed,) = (row for row in every if row["url"] == "http://127.0.0.1:9/")
    assert failed["error"] == "connect"


async def test_only_relevant_pages(crawled: Any, lycosa: Call) -> None:
    folder = await crawled()
    every = rows(await lycosa("export", folder))
    relevant = [row["n"] for row in every if row["on_topic"]]
    assert 0 < len(relevant) < len(every)
    assert [row["n"] for row in rows(await lycosa("export", folder, "--relevant"))] == relevant
    best = sorted(row["relevance"] for row in every if row["relevance"])[-3]
    found = rows(await lycosa("export", folder, "--min-relevance", str(best)))
    assert [row["n"] for row in found] == [row["n"] for row in every if (row["relevance"] or 0) >= best]
    assert (await lycosa("export", folder, "--min-relevance", "2")).code == 2


async def test_columns_in_the_order_asked_for(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    folder = await crawled()
    found = rows(await lycosa("export", folder, "--relevant", "--columns", "why, url,warc,warc_offset"))
    assert list(found[0]) == ["why", "url", "warc", "warc_offset"]
    assert found[0]["why"].keys() & {"astronomy", "telescope"}
    assert found[0]["warc"] == "lycosa-00001.warc.gz"
    every = rows(await lycosa("export", folder, "--columns", "all"))
    assert list(every[0]) == [*COLUMNS, "why", "classes", "detail", "warc", "warc_offset"]
    assert any(row["duplicate_of"] for row in every)
    await lycosa("export", folder, "--columns", "all", "--format", "parquet", "--out", tmp_path / "x.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [dict(row["why"]) for row in table] == [row["why"] for row in every]
    wrong = await lycosa("export", folder, "--columns", "url,size")
    assert wrong.code == 2
    assert wrong.err.startswith("lycosa: --columns: there is no column 'size' (there are: n, url, final_url, status,")
    assert wrong.err.count("\n") == 1


async def test_the_text_comes_from_the_warc(crawled: Any, lycosa: Call) -> None:
    folder = await crawled()
    found = rows(await lycosa("export", folder, "--relevant", "--text", "--columns", "url"))
    assert list(found[0]) == ["url", "text"]
    assert "astronomy" in " ".join(row["text"] for row in found)
    assert "<" not in found[0]["text"]
    for path in (folder / "warc").iterdir():
        path.unlink()
    broken = await lycosa("export", folder, "--text", "--out", folder / "x.jsonl")
    assert (broken.code, broken.err.count("\n"), "warc" in broken.err) == (2, 1, True)
    assert not (folder / "x.jsonl").exists()


async def test_without_a_warc_there_is_no_text(crawled: Any, lycosa: Call) -> None:
    folder = await crawled(more="[store]\nwarc = false\n")
    outcome = await lycosa("export", folder, "--text")
    assert (outcome.code, outcome.err) == (2, f"lycosa: {folder}: text: no page was stored here (store.warc = false)\n")
    assert rows(await lycosa("export", folder, "--columns", "warc,warc_offset"))[0] == {"warc": "", "warc_offset": None}


async def test_links(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    folder = await crawled()
    found = rows(await lycosa("export", folder, "--links"))
    assert list(found[0]) == ["source", "target", "anchor", "score"]
    pages = {row["url"]: row for row in rows(await lycosa("export", folder))}
    assert {row["source"] for row in found} <= pages.keys()
    with sqlite3.connect(folder / "crawl.db") as db:
        size = db.execute("SELECT sum(length(targets)) / 4 FROM links").fetchone()[0]
        led = db.execute("SELECT s.url, t.url, t.anchor FROM urls t JOIN urls s ON s.id = t.source").fetchall()
    assert len(found) == size
    anchors = {(row["source"], row["target"]): row["anchor"] for row in found}
    known = [anchors[source, target] == anchor for source, target, anchor in led if (source, target) in anchors]
    assert len(known) > 20
    assert all(known)
    await lycosa("export", folder, "--links", "--format", "csv", "--columns", "target", "--out", tmp_path / "l.csv")
    assert (tmp_path / "l.csv").read_text().split() == ["target", *(row["target"] for row in found)]
    refused = await lycosa("export", folder, "--links", "--relevant")
    assert (refused.code, refused.err) == (2, "lycosa: --relevant: cannot be combined with --links\n")
    assert (
        "there are: source, target, anchor, score" in (await lycosa("export", folder, "--links", "--columns", "n")).err
    )


async def test_class_probabilities(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    for label, words in {"positive": "astronomy telescope planet galaxy", "negative": "recipe court law soup"}.items():
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(4):
            (tmp_path / "pages" / label / f"{number}.html").write_text(f"<p>{words} page")
    folder = await crawled('[topic]\nkind = "examples"\nexamples = "../pages"\nmodel = "nb"\n')
    found = rows(await lycosa("export", folder, "--columns", "label,classes"))
    assert {row["label"] for row in found} >= {"positive", "negative"}
    for row in found:
        if row["label"]:  # a page without a word that the examples have gets none
            assert sum(row["classes"].values()) == pytest.approx(1.0, abs=0.01)
            assert row["label"] == next(iter(row["classes"]))


async def test_which_pages_are_about_a_concept(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    folder = await crawled(ONTOLOGY)
    found = rows(await lycosa("export", folder, "--relevant", "--columns", "final_url,why"))
    expected = {row["final_url"] for row in found if "telescope" in row["why"]}
    assert 0 < len(expected) < len(found)

    assert (await lycosa("export", folder, "--format", "turtle", "--out", tmp_path / "x.ttl")).code == 0
    graph = rdflib.Graph().parse(tmp_path / "x.ttl")
    sparql = 'SELECT ?page { ?page dct:subject ?c . ?c skos:prefLabel "telescope" }'
    names = {"dct": rdflib.DCTERMS, "skos": rdflib.SKOS}
    assert {str(page) for (page,) in graph.query(sparql, initNs=names)} == expected

    assert (await lycosa("export", folder, "--format", "xtm", "--out", tmp_path / "x.xtm")).code == 0
    assert {page for page, concept in read_subjects(tmp_path / "x.xtm") if concept == "lens"} == expected
    assert len(list(read_pages(tmp_path / "x.xtm"))) == len(found)
    best = max(relevance for _, _, relevance in read_pages(tmp_path / "x.xtm"))
    few = await lycosa(
        "export", folder, "--format", "xtm", "--min-relevance", str(best - 1e-5), "--out", tmp_path / "y"
    )
    assert few.err == f"1 pages written to {tmp_path / 'y'}\n"


async def test_a_map_needs_an_ontology_and_a_file(crawled: Any, lycosa: Call, tmp_path: Path) -> None:
    folder = await crawled()
    for format in ("xtm", "turtle"):
        outcome = await lycosa("export", folder, "--format", format, "--out", tmp_path / "x")
        assert (outcome.code, "only a topic of kind ontology" in outcome.err) == (2, True)
    (folder / "crawl.toml").write_text(ONTOLOGY)
    outcome = await lycosa("export", folder, "--format", "turtle")
    assert (outcome.code, outcome.err) == (2, "lycosa: --out: name the file for the turtle\n")
    outcome = await lycosa("export", folder, "--format", "turtle", "--text")
    assert (outcome.code, outcome.err) == (2, "lycosa: --text: cannot be combined with --format turtle\n")


@pytest.fixture
def unwritable(tmp_path: Path) -> list[Path]:
    places = [tmp_path, tmp_path / "none" / "x", Path("/proc/x"), Path("/dev/full")]
    return [place for place in places if place.name != "full" or place.exists()]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "xtm", "turtle"])
async def test_where_nothing_can_be_written(crawled: Any, lycosa: Call, unwritable: list[Path], format: str) -> None:
    folder = await crawled(ONTOLOGY)
    for place in unwritable:
        outcome = await lycosa("export", folder, "--format", format, "--out", place)
        assert outcome.code == 2
        assert outcome.err.startswith(f"lycosa: {place}: ")
        assert outcome.err.count("\n") == 1, outcome.err


async def test_a_folder_of_the_first_version(crawled: Any, lycosa: Call) -> None:
    """Read as it is, and brought up to date by the next crawl."""
    folder = await crawled()
    with sqlite3.connect(folder / "crawl.db") as db:
        db.execute("ALTER TABLE visits DROP COLUMN classes")
        db.execute("UPDATE urls SET score = 1e9 WHERE band = 2")
        for column in ("band", "origin"):
            db.execute(f"ALTER TABLE urls DROP COLUMN {column}")
        db.execute("PRAGMA user_version = 1")
    assert rows(await lycosa("export", folder, "--columns", "classes"))[0] == {"classes": {}}
    assert (await lycosa("show", folder)).code == 0
    assert (await lycosa("crawl", folder, "--pages", "48")).code == 0
    found = rows(await lycosa("export", folder, "--columns", "n,classes,duplicate_of"))
    assert sum(not row["duplicate_of"] for row in found) == 48
