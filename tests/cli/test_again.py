"""`lycosa again`: hubs of the last crawl become the seeds of the next, and what was learned goes along."""

import asyncio
import json
import sys
import tomllib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from lycosa import build, config
from lycosa.again import best_hubs, next_config, to_toml
from lycosa.cli.again import again
from lycosa.judge import JUDGES
from lycosa.output.phases import histograms
from lycosa.seeds.file import read_seeds
from lycosa.store.db import DONE, CrawlDb
from lycosa.types import BadInput

app = typer.Typer()
app.command()(again)

# 1 -> 3, 4; 2 -> 3, 4, 5; 3 -> 5: hubs .5774 .7887 .2113
PUBLISHED = {1: [3, 4], 2: [3, 4, 5], 3: [5], 4: [], 5: []}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def problem(*arguments: str | Path) -> str:
    error = run(*arguments).exception
    assert isinstance(error, BadInput), error
    return str(error)


def url_of(number: int) -> str:
    return f"http://x.example/{number}"


def add_visit(db: CrawlDb, url: str, on_topic: bool = True, **more: Any) -> None:
    columns = {
        "url": url,
        "final_url": url,
        "error": "",
        "digest": url,
        "duplicate_of": "",
        "on_topic": on_topic,
        "relevance": 0.5,
    } | more
    marks = ", ".join("?" * len(columns))
    db.execute(f"INSERT INTO visits ({', '.join(columns)}) VALUES ({marks})", list(columns.values()))


def crawled(folder: Path, graph: dict[int, list[int]], off_topic: tuple[int, ...] = (), text: str = "") -> CrawlDb:
    """A finished crawl of numbered pages; the database is still open, for more."""
    folder.mkdir()
    (folder / "crawl.toml").write_text(text or '[topic]\nkind = "keywords"\nwords = ["web"]\n')
    db = CrawlDb(folder / "crawl.db").open()
    for number, targets in graph.items():
        db.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 1.0, ?, 1, 0)", (number, url_of(number), DONE))
        db.execute("INSERT INTO links VALUES (?, ?)", (number, array("I", targets).tobytes()))
        add_visit(db, url_of(number), number not in off_topic)
    db.commit()
    return db


# -- hubs -------------------------------------------------------------------------------------------------------------


def test_hubs_of_the_published_graph(tmp_path: Path) -> None:
    db = crawled(tmp_path / "last", PUBLISHED)
    found = best_hubs(db, 600, accepted=False)
    db.close()
    assert [url for url, _ in found] == [url_of(2), url_of(1), url_of(3)]  # 4 and 5 link to nothing
    assert [score for _, score in found] == pytest.approx([0.7887, 0.5774, 0.2113], abs=5e-5)


def test_only_so_many_hubs_are_taken(tmp_path: Path) -> None:
    db = crawled(tmp_path / "last", PUBLISHED)
    assert [url for url, _ in best_hubs(db, 2, accepted=False)] == [url_of(2), url_of(1)]
    db.close()


def test_equal_hubs_keep_the_order_of_the_crawl(tmp_path: Path) -> None:
    db = crawled(tmp_path / "last", {3: [9], 1: [9], 2: [9], 9: []})
    assert [url for url, _ in best_hubs(db, 9, accepted=False)] == [url_of(3), url_of(1), url_of(2)]
    db.close()


def test_with_accepted_only_pages_on_topic_count(tmp_path: Path) -> None:
    db = crawled(tmp_path / "last", PUBLISHED, off_topic=(2, 4))
    assert [url for url, _ in best_hubs(db, 600, accepted=True)] == [url_of(1), url_of(3)]
    db.close()


def test_links_to_pages_that_were_not_fetched_do_not_count(tmp_path: Path) -> None:
    """Links out of the crawl make nobody a hub, nor do failures."""
    db = crawled(tmp_path / "last", {1: [2], 2: [7, 8, 9, 10, 4_000_000_000], 3: [1, 2]})
    db.execute("INSERT INTO urls VALUES (7, ?, 2, '', 1, 1.0, 0, 1, 0)", (url_of(7),))
    db.execute("INSERT INTO urls VALUES (8, ?, 2, '', 1, 1.0, 1, 1, 0)", (url_of(8),))
    add_visit(db, url_of(8), False, error="timeout", digest="", relevance=None)
    found = best_hubs(db, 600, accepted=False)
    db.close()
    assert {url for url, _ in found} == {url_of(1), url_of(3)}


def test_redirects_and_copies_are_the_page_they_lead_to(tmp_path: Path) -> None:
    """3 links to a redirect to 1 and to a copy of 2: as good a hub as 4, which links to both of them."""
    db = crawled(tmp_path / "last", {2: [], 3: [10, 11], 4: [1, 2]})
    for number in (1, 10, 11):
        db.execute("INSERT INTO urls VALUES (?, ?, 0, '', 0, 1.0, 1, 1, 0)", (number, url_of(number)))
    add_visit(db, url_of(10), final_url=url_of(1))
    add_visit(db, url_of(11), digest=url_of(2), duplicate_of=url_of(2), relevance=None, on_topic=False)
    found = dict(best_hubs(db, 600, accepted=False))
    db.close()
    assert found == pytest.approx({url_of(3): 0.7071, url_of(4): 0.7071}, abs=1e-4)


# -- the new folder ---------------------------------------------------------------------------------------------------


def test_the_new_folder_is_ready_to_crawl(tmp_path: Path) -> None:
    crawled(tmp_path / "last", PUBLISHED).close()
    outcome = run(tmp_path / "last", tmp_path / "next")
    assert outcome.exit_code == 0, outcome.exception
    assert "3 hubs as seeds" in outcome.stdout
    settings, _ = config.load(tmp_path / "next")
    assert settings.topic == {"kind": "keywords", "words": ["web"]}
    good, bad = read_seeds(settings.seeds, tmp_path / "next")
    assert good == [url_of(2), url_of(1), url_of(3)]
    assert not bad
    assert "http://x.example/2 # 0.788675" in (tmp_path / "next" / "seeds.txt").read_text()
    assert sorted(path.name for path in (tmp_path / "next").iterdir()) == ["crawl.toml", "seeds.txt"]
    assert not list(tmp_path.glob("*.part"))


def test_a_tids_crawl_goes_on_with_its_table(tmp_path: Path) -> None:
    text = (
        '[topic]\nkind = "tids"\nexamples = "set"\n[strategy]\nkind = "tids"\nthreshold = 30.0\n[limits]\npages = 7\n'
    )
    db = crawled(tmp_path / "last", PUBLISHED, text=text)
    db.put("state:judge", '{"pages": 3}')
    db.commit()
    db.close()
    assert run(tmp_path / "last", tmp_path / "deep" / "next", "--seeds", "1").exit_code == 0
    settings, _ = config.load(tmp_path / "deep" / "next")
    assert settings.strategy == {"kind": "tids", "consecutive": True}
    assert settings.topic == {"kind": "tids", "examples": "../../last/set", "grow": False}
    assert settings.limits.pages == 7
    new = CrawlDb(tmp_path / "deep" / "next" / "crawl.db", readonly=True).open()
    assert new.get("state:judge") == '{"pages": 3}'
    assert new.execute("SELECT count(*) FROM visits").fetchone() == (0,)
    new.close()


def test_a_trained_model_and_rules_go_along(tmp_path: Path) -> None:
    crawled(tmp_path / "last", PUBLISHED).close()
    for name in ("topic.model", "rules.json"):
        (tmp_path / "last" / name).write_text(name)
    assert run(tmp_path / "last", tmp_path / "next").exit_code == 0
    assert (tmp_path / "next" / "topic.model").read_text() == "topic.model"
    assert (tmp_path / "next" / "rules.json").read_text() == "rules.json"


def test_paths_are_as_they_read_from_the_new_folder(tmp_path: Path) -> None:
    last = {"topic": {"examples": ["a", "/abs/b"], "labels": "", "words": ["a"], "file": "../map.xtm"}}
    found = next_config(last, tmp_path / "last", tmp_path / "next")
    assert found["topic"] == {
        "examples": ["../last/a", "/abs/b"],
        "labels": "",
        "words": ["a"],
        "file": "../map.xtm",
    }


def test_idf_is_a_file_of_an_ontology_only(tmp_path: Path) -> None:
    found = next_config({"topic": {"kind": "ontology", "idf": "table.tsv"}}, tmp_path / "last", tmp_path / "next")
    assert found["topic"]["idf"] == "../last/table.tsv"
    text = '[topic]\nkind = "tids"\nexamples = "set"\nidf = "smooth"\n'
    crawled(tmp_path / "last", PUBLISHED, text=text).close()
    assert run(tmp_path / "last", tmp_path / "next").exit_code == 0
    settings, source = config.load(tmp_path / "next")
    assert build.make("topic", JUDGES, settings.topic, source).idf == "smooth"


def test_paths_of_strategy_and_search_go_along(tmp_path: Path) -> None:
    last = {
        "strategy": {"kind": "publications", "urls": "labels.tsv", "model": "", "target": "course"},
        "search": {"engine": "local", "pages": "web.warc.gz"},
    }
    found = next_config(last, tmp_path / "last", tmp_path / "next")
    assert found["strategy"] == last["strategy"] | {"urls": "../last/labels.tsv"}
    assert found["search"] == {"engine": "local", "pages": "../last/web.warc.gz"}
    last = {"strategy": {"kind": "publications", "model": "url.model"}}
    assert next_config(last, tmp_path / "last", tmp_path / "next")["strategy"]["model"] == "../last/url.model"


def test_an_empty_folder_may_be_there_already(tmp_path: Path) -> None:
    crawled(tmp_path / "last", PUBLISHED).close()
    (tmp_path / "next").mkdir()
    (tmp_path / "next.part").mkdir()
    (tmp_path / "next.part" / "notes").write_text("precious")  # somebody else's folder
    assert run(tmp_path / "last", tmp_path / "next").exit_code == 0
    assert (tmp_path / "next" / "crawl.toml").exists()
    assert (tmp_path / "next.part" / "notes").read_text() == "precious"


def test_what_cannot_be_done_is_one_clear_line(tmp_path: Path) -> None:
    assert "nothing" in problem(tmp_path / "nothing", tmp_path / "next")
    crawled(tmp_path / "last", {1: [1], 2: []}).close()
    assert "there are no hubs to start from" in problem(tmp_path / "last", tmp_path / "next")
    assert not (tmp_path / "next").exists()
    assert f"{tmp_path / 'last'}: already exists" in problem(tmp_path / "last", tmp_path / "last")
    (tmp_path / "file").write_text("")
    assert "already exists" in problem(tmp_path / "last", tmp_path / "file")
    (tmp_path / "last" / "crawl.db").unlink()
    assert "nothing crawled yet" in problem(tmp_path / "last", tmp_path / "next")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    crawled(tmp_path / "last", PUBLISHED).close()
    (tmp_path / "file").write_text("")
    assert "cannot be written" in problem(tmp_path / "last", tmp_path / "file" / "next")


values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**53), 2**53),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)
keys = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(
    st.dictionaries(
        keys,
        st.one_of(
            values,
            st.lists(values, max_size=4),
            st.dictionaries(keys, st.one_of(values, st.lists(values, max_size=3), st.dictionaries(keys, values))),
        ),
    )
)
def test_what_is_written_as_toml_reads_the_same(sections: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(sections)) == sections


# -- the whole way ----------------------------------------------------------------------------------------------------

ON = "web crawler index search robot"
OFF = "football match league goal season"


def html(text: str, *links: str) -> bytes:
    return (f"<p>{text}</p>" + "".join(f'<p><a href="{link}">{link.strip("/")}</a></p>' for link in links)).encode()


SITE = {
    "/start": html(f"{ON} start", "/hub", "/off"),
    "/hub": html(f"{ON} hub hub", "/a", "/b", "/c"),
    "/a": html(f"{ON} page a", "/b", "/c"),
    "/b": html(f"{ON} page b b"),
    "/c": html(f"{ON} page c c c"),
    "/off": html(f"{OFF} off", "/far"),
    "/far": html(f"{OFF} far far"),
}


async def lycosa(*arguments: str | Path) -> str:
    command = Path(sys.executable).parent / "lycosa"
    process = await asyncio.create_subprocess_exec(
        str(command), *map(str, arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return out.decode()


async def test_two_crawls_in_a_row(server: Any, answer: Callable[..., Any], tmp_path: Path) -> None:
    """The second starts at the best hub, with the table that the first one grew, and leaves the table as it is."""

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        reply = answer(SITE[path]) if path in SITE else answer(b"nothing", "404 Not Found")
        await reply(path, headers, writer)

    server.handle = handle
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "set").mkdir(parents=True)
    for number, text in enumerate(("web crawler robot", "search index web", "crawler index search")):
        (first / "set" / f"{number}.txt").write_text(text)
    (first / "crawl.toml").write_text(
        f'seeds = ["{server.url}/start"]\n[topic]\nkind = "tids"\nexamples = "set"\naccept = 20\n'
        '[strategy]\nkind = "tids"\n[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\n'
    )
    summary = json.loads(await lycosa("crawl", first, "--json"))
    assert summary["pages"] == 7
    assert (await asyncio.to_thread(run, first, second)).exit_code == 0
    good, _ = read_seeds("seeds.txt", second)
    assert [url.rpartition("/")[2] for url in good] == ["hub", "a", "start", "off"]

    server.requests.clear()
    await lycosa("crawl", second, "--json")
    asked = [path for path, _ in server.requests]
    assert asked[:5] == ["/robots.txt", "/hub", "/a", "/start", "/off"]
    tables = []
    for folder in (first, second):
        db = CrawlDb(folder / "crawl.db", readonly=True).open()
        tables.append(json.loads(db.get("state:judge")))
        db.close()
    assert tables[0]["pages"] == tables[1]["pages"] == 3 + 5
    phases = histograms([first, second])
    assert [(phase.name, phase.pages) for phase in phases] == [("first", 7), ("second", 7)]
