"""The focus and the weights of an ontology, changed by clicking and written to crawl.toml."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

import lycosa
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server

MakeConsole = Callable[..., TestClient]
Serve = Callable[[Any], AbstractContextManager[Any]]
FETCH = {"delay_s": 0.001, "delay_factor": 0.0, "allow_private": True, "focus": 0.0}
AT, API = "/crawls/map/ontology", "/api/crawls/map/ontology"
WEB = GeneratedWeb(pages=200, hosts=3, seed=3, text=Text(size_bytes=(1_500, 3_000)))
MAP = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:sky a skos:Concept ; skos:prefLabel "astronomy" .
:comet a skos:Concept ; skos:prefLabel "comet" ; skos:broader :sky .
:planet a skos:Concept ; skos:prefLabel "planet" ; skos:broader :sky .
:garden a skos:Concept ; skos:prefLabel "garden" .
"""
HEAD = "# What I look for.\n"
SKY, COMET, GARDEN = (f"http://example.org/{name}" for name in ("sky", "comet", "garden"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Path:
    folder = tmp_path_factory.mktemp("focus") / "map"
    topic = {"kind": "ontology", "file": "sky.ttl", "focus": ["Astronomy"], "limit": 0.001}
    with serve(Server(WEB)) as server:
        made = lycosa.CrawlFolder.new(folder, WEB.seeds(server.port, 4), topic, fetch=FETCH, limits={"pages": 20})
        (folder / "sky.ttl").write_text(MAP)
        assert made.crawl()["pages"] == 20
    return folder


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    shutil.copytree(crawled, tmp_path / "root" / "map")
    toml = tmp_path / "root" / "map" / "crawl.toml"
    toml.write_text(HEAD + toml.read_text())
    return tmp_path / "root" / "map"


@pytest.fixture
def console(folder: Path, make_console: MakeConsole) -> TestClient:
    return make_console(folder.parent)


def weights(found: Any) -> dict[str, float]:
    return {row["label"]: row["weight"] for row in found["concepts"]}


def test_a_focus_can_be_tried_without_saving_it(console: TestClient, folder: Path) -> None:
    before = (folder / "crawl.toml").read_text()
    tried = console.get(API, params={"try": "1", "focus": [COMET, GARDEN], "weight-hierarchy": "0.6"}).json()
    assert weights(tried) == {"astronomy": 0.6, "comet": 1.0, "planet": 0.1, "garden": 1.0}
    assert tried["is_draft"]
    assert "Discard the changes" in console.get(AT, params={"try": "1", "focus": COMET}).text
    assert (folder / "crawl.toml").read_text() == before
    assert weights(console.get(API).json()) == {"astronomy": 1.0, "comet": 0.8, "planet": 0.8, "garden": 0.1}


def test_it_is_written_as_a_person_would(console: TestClient, folder: Path) -> None:
    before = (folder / "crawl.toml").read_text()
    data = {"focus": [SKY, COMET], "weight-focus": "1", "weight-hierarchy": "0.8", "weight-rest": "0.05"}
    assert console.post(AT, data=data).status_code == 303
    written = (folder / "crawl.toml").read_text()
    assert written.startswith(HEAD)
    assert 'focus = ["Astronomy", "comet"]\n' in written  # what was there stays as it was spelled
    assert "[topic.weights]\nrest = 0.05\n" in written
    page = console.get(AT).text
    assert "focus: comet added" in page
    assert "Judge the stored pages again" in page
    api = console.post(API, json={"focus": [SKY], "weights": {"rest": 0.1}}).json()
    assert api["focus"] == ["astronomy"]
    assert "Judge the stored pages again" not in console.get(AT).text  # it is what they were judged by
    assert (folder / "crawl.toml").read_text() == before.replace(
        "\n\n[fetch]", "\n[topic.weights]\nrest = 0.1\n\n[fetch]"
    )


def test_stored_pages_are_judged_again(console: TestClient, folder: Path) -> None:
    with console:
        console.post(API, json={"focus": [GARDEN]})
        done = console.post("/api/crawls/map/orders/rejudge").json()["crawl"]
        assert (done["state"], done["status"]) == ("judging", "judging all stored pages again")
        assert "are being judged again" in console.get(AT).text
        assert console.post("/api/crawls/map/orders/start").status_code == 400
        jobs = console.app.state.console_site.jobs  # type: ignore[attr-defined]
        jobs._jobs[folder.resolve()].process.wait(60)
        page = console.get(AT).text
        assert "20 pages re-judged" in page
        assert "Next:" not in page
        assert console.get("/api/crawls/map").json()["state"] == "ended"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"focus": ["nowhere"]}, "'nowhere' is not a concept of sky.ttl"),
        ({"focus": [], "weights": {"rest": 2}}, "Expected `float` <= 1.0"),
        ({"focus": [], "weights": {"other": 1}}, "unknown field `other`"),
        ({}, "missing required field `focus`"),
    ],
)
def test_nonsense_is_one_line(console: TestClient, folder: Path, body: dict[str, Any], problem: str) -> None:
    before = (folder / "crawl.toml").read_text()
    answer = console.post(API, json=body)
    assert answer.status_code == 400
    assert problem in answer.json()["error"]
    form = console.post(AT, data={"focus": COMET, "weight-rest": "much"})
    assert (form.status_code, "numbers from 0 to 1" in form.text) == (400, True)
    assert (folder / "crawl.toml").read_text() == before


def test_other_topics_have_no_focus(crawls: Path, make_console: MakeConsole) -> None:
    answer = make_console(crawls).post("/api/crawls/stars/ontology", json={"focus": []})
    assert (answer.status_code, "not an ontology" in answer.json()["error"]) == (400, True)


def test_read_only_shows_the_weights_alone(folder: Path, make_console: MakeConsole) -> None:
    page = make_console(folder.parent, read_only=True).get(AT).text
    assert "Save to crawl.toml" not in page
    assert "checkbox" not in page
    assert "0.80" in page


def test_before_the_first_page_everything_may_change(folder: Path, make_console: MakeConsole) -> None:
    for name in ("crawl.db", "summary.json"):
        (folder / name).unlink()
    console = make_console(folder.parent)
    assert console.post(API, json={"focus": [COMET]}).json()["focus"] == ["comet"]
    assert "Judge the stored pages again" not in console.get(AT).text


@pytest.mark.xdist_group("browser")
def test_by_clicking(folder: Path, watch: Callable[..., Any], open_console: Callable[..., Any]) -> None:
    watched = watch()
    page: Page = watched.page
    with open_console(folder.parent) as start:
        page.goto(start)
        page.goto(f"{start.partition('/enter')[0]}{AT}")
        save = page.get_by_role("button", name="Save to crawl.toml")
        expect(page.get_by_text("Not saved yet")).to_have_count(0)
        page.get_by_label("planet in focus").check()
        page.get_by_label("planet in focus").uncheck()
        page.get_by_label("garden in focus").check()  # while the map is still being drawn
        expect(page.get_by_role("row", name="garden")).to_contain_text("1.00")
        expect(page.get_by_role("row", name="planet")).to_contain_text("0.80")
        expect(page.get_by_label("garden in focus")).to_be_focused()
        page.get_by_label("all others").fill("0.2")
        page.get_by_label("directly above").fill("0.7")
        page.keyboard.press("Tab")
        expect(page.get_by_role("row", name="comet")).to_contain_text("0.70")
        expect(page.get_by_text("Not saved yet")).to_be_visible()
        assert watched.accessibility() == []
        save.click()
        expect(page.get_by_text("focus: garden added")).to_be_visible()
        assert 'focus = ["Astronomy", "garden"]' in (folder / "crawl.toml").read_text()
        page.get_by_role("button", name="Judge the stored pages again").click()
        expect(page.get_by_text("20 pages re-judged")).to_be_visible(timeout=60_000)
        assert watched.accessibility() == []
        watched.check()
