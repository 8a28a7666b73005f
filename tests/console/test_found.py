"""The views on what was found: pages, one page, why, search, the maps of the subject. Each with its JSON twin."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lycosa.console import frontier, search, taxonomy
from lycosa.console.security import COPY_POLICY
from lycosa.store.db import CrawlDb
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import Exchange, Link, Page, Reply, Verdict, Visit
from lycosa.urls import canonical

MakeConsole = Callable[..., TestClient]
PAGES, API = "/crawls/stars/pages", "/api/crawls/stars"
EVIL = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\"> \u202eesrever\u202c \x1b[31m"
EVIL_URL = canonical("http://evil.example/<script>?'\"onmouseover=alert(1)&{{7*7}}")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, figures are waited for."""
    for module, name in ((frontier, "_recent"), (taxonomy, "_recent")):
        recent = getattr(module, name)
        monkeypatch.setattr(module, name, type(recent)(recent._count))
        found = getattr(module, name)
        monkeypatch.setattr(found, "get", lambda folder, get=found.get: get(folder, 60.0))
    monkeypatch.setattr(search, "_WAIT_S", 60.0)


def write_hostile(folder: Path) -> None:
    """A crawl of one seed that leads to a page of the worst kind, with a title of five megabytes."""
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        "seeds = ['http://evil.example/']\n[topic]\nkind = 'keywords'\nwords = ['comet']\n"
    )
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, WarcWriter(folder / "warc"))
    store.open()
    for number, (url, title) in enumerate([(EVIL_URL, EVIL), ("http://evil.example/long", "x" * 5_000_000)], 1):
        body = f"<title>{title}</title><p onclick='alert(1)'>comet {EVIL}</p><svg onload=alert(1)></svg>".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, body, 1.0)
        reply = Reply(Link(url, anchor=EVIL), url, 200, "text/html; charset=utf-8", body, at=1.0, exchanges=(exchange,))
        verdict = Verdict(0.9, True, EVIL, {EVIL: 1.0}, {EVIL: 0.5, "comet": 0.4})
        store.write(Visit(reply, Page(url, title, f"comet {EVIL}", simhash=number), verdict, digest=str(number)))
        db.execute("INSERT INTO urls VALUES (?, ?, ?, ?, 0, 0.5, 1, 1, 0)", (number, url, number - 1, EVIL))
    db.execute("INSERT INTO urls VALUES (3, ?, 1, ?, 1, 0.5, 0, 1, 0)", (f"{EVIL_URL}&3", EVIL))
    failed = Reply(
        Link("http://evil.example/gone"), url="http://evil.example/gone", error="timeout", detail=EVIL, at=1.0
    )
    store.write(Visit(failed))
    db.execute("INSERT INTO urls VALUES (4, 'http://evil.example/gone', 1, ?, 1, 0.5, 1, 1, 0)", (EVIL,))
    db.commit()
    store.close()
    db.close()


def test_pages_are_filtered_sorted_and_continued(console: TestClient) -> None:
    everything = console.get(f"{API}/pages?size=500").json()
    relevant = [page for page in everything["pages"] if page["on_topic"]]
    assert everything["total"] == len(everything["pages"]) > len(relevant) > 3
    found = console.get(f"{API}/pages?verdict=relevant&sort=relevance&size=3").json()
    assert found["total"] == len(relevant)
    scores = [page["relevance"] for page in relevant]
    assert [page["relevance"] for page in found["pages"]] == sorted(scores, reverse=True)[:3]
    rest = console.get(f"{API}/pages?verdict=relevant&sort=relevance&size=500&after={found['next']}").json()
    assert {page["n"] for page in rest["pages"] + found["pages"]} == {page["n"] for page in relevant}
    page = console.get(f"{PAGES}?verdict=relevant&text={relevant[0]['title'].split()[0]}").text
    assert f"/crawls/stars/pages/{relevant[0]['n']}" in page
    more = console.get(f"{PAGES}?after={found['next']}", headers={"HX-Request": "true", "HX-Target": "more"}).text
    assert more.startswith("<tbody>")


@pytest.mark.parametrize("query", ["sort=size", "after=nonsense", "since=soon", "size=x", "verdict=maybe", "size=9999"])
def test_bad_questions_get_one_line(console: TestClient, query: str) -> None:
    answer = console.get(f"{API}/pages?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(query.partition("=")[0])


def test_what_is_new(console: TestClient) -> None:
    everything = console.get(f"{API}/pages").json()["total"]
    assert console.get(f"{API}/pages?since=hour").json()["total"] == everything
    assert console.get(f"{API}/pages?since={time.time() + 60}").json()["total"] == 0
    assert console.get(f"{API}/pages?since=2020-01-31T12:00").json()["total"] == everything


def test_a_page_with_its_words_its_way_and_its_copy(console: TestClient) -> None:
    best = console.get(f"{API}/pages?verdict=relevant&sort=relevance&size=1").json()["pages"][0]
    path = f"{PAGES}/{best['n']}"
    page = console.get(path).text
    assert "What spoke for it and against it" in page
    assert "<mark>" in page
    assert "iframe" in page
    assert re.search(r"<iframe[^>]* sandbox ", page)
    found = console.get(f"/api{path}").json()
    effects = [part["effect"] for passage in found["text"] for part in passage]
    assert max(effects) > 0
    assert found["reasons"][0]["share"] == 1.0
    around = console.get(f"/api{path}/surroundings").json()
    assert around["path"][0]["origin"] == 1  # a seed
    assert around["path"][-1]["url"] == best["url"]
    assert around["links"]
    assert "The path from a seed" in console.get(f"{path}/surroundings").text
    copy = console.get(f"{path}/copy")
    assert copy.headers["content-security-policy"] == COPY_POLICY
    assert best["title"].split()[0] in copy.text
    assert "href" not in copy.text


def test_pages_that_are_not_there(console: TestClient) -> None:
    assert console.get(f"{PAGES}/9999").status_code == 404
    assert console.get(f"{PAGES}/9999/copy").status_code == 404
    assert console.get("/crawls/unborn/pages").status_code == 409
    assert "nothing crawled yet" in console.get("/crawls/unborn/search").text


def test_why_explains_pages_and_waiting_links(console: TestClient) -> None:
    page = console.get(f"{API}/pages?size=1").json()["pages"][0]
    found = console.get(f"{API}/why", params={"url": page["url"]}).json()
    assert found["sentence"].startswith("Fetched because")
    assert not found["is_waiting"]
    host = next(host for host in console.get(f"{API}/frontier").json()["hosts"] if host["waiting"])
    waiting = console.get(f"{API}/frontier/queued", params={"host": host["name"]}).json()[0]
    found = console.get(f"{API}/why", params={"url": waiting["url"]}).json()
    assert found["sentence"].startswith("Not fetched yet")
    assert found["is_waiting"]
    text = console.get("/crawls/stars/why", params={"url": waiting["url"]}).text
    assert "Finding its place in the queue" in text
    place = console.get("/crawls/stars/why/place", params={"url": waiting["url"]}).text
    assert "queued URLs come before it" in place
    unknown = console.get("/crawls/stars/why", params={"url": "http://unknown.example/"})
    assert unknown.status_code == 404
    assert "does not know this URL" in unknown.text


def test_a_search_that_found_nothing_repeats_itself_while_pages_are_added(
    console: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = "/crawls/stars/search?q=xyzzy"
    monkeypatch.setattr(search._indexer, "refresh", lambda folder: (True, ""))
    page = console.get(asks).text
    assert 'id="found" hx-get="?q=xyzzy" hx-trigger="load delay:1s"' in page
    assert "more are being added" in page
    monkeypatch.setattr(search._indexer, "refresh", lambda folder: (False, ""))
    assert 'id="found">' in console.get(asks).text


def test_search_finds_relevant_pages_also_read_only(crawls: Path, make_console: MakeConsole) -> None:
    with make_console(crawls, read_only=True) as console:
        found = console.get(f"{API}/search?q=telescope").json()
        relevant = console.get(f"{API}/pages?verdict=relevant").json()["total"]
        assert found["indexed"] == relevant
        assert found["results"]["pages"] > 0
        hit = found["results"]["hits"][0]
        page = console.get("/crawls/stars/search?q=telescope").text
        assert f"/crawls/stars/pages/{hit['n']}" in page
        assert re.search(r"<mark>telescope</mark>", page, re.IGNORECASE)
        narrowed = console.get(f"{API}/search", params={"q": "telescope", "host": hit["host"]}).json()
        assert {one["host"] for one in narrowed["results"]["hits"]} == {hit["host"]}
        assert "No relevant page has these words" in console.get("/crawls/stars/search?q=xyzzy").text
        assert console.get(f"{API}/search").json()["results"] is None


def test_hostile_pages_are_text_on_every_view(crawls: Path, make_console: MakeConsole) -> None:
    write_hostile(crawls / "hostile")
    api, at = "/api/crawls/hostile", "/crawls/hostile"
    with make_console(crawls) as console:
        question = {"url": EVIL_URL}
        assert console.get(f"{api}/search?q=comet").json()["indexed"] == 2
        for path, params in [
            ("/pages", {}),
            ("/pages/1", {}),
            ("/pages/2", {}),
            ("/pages/1/surroundings", {}),
            ("/why", question),
            ("/why/place", {"url": f"{EVIL_URL}&3"}),
            ("/frontier", {}),
            ("/frontier/queued", {"host": "evil.example"}),
            ("/failures", {}),
            ("/ontology", {}),
            ("/taxonomy", {}),
            ("/search", {"q": "comet"}),
            ("/search", {"q": EVIL}),
            ("/pages", {"text": EVIL, "concept": EVIL, "label": EVIL, "host": EVIL}),
        ]:
            answer = console.get(f"{at}{path}", params=params)
            assert answer.status_code == 200, path
            assert "<script>document" not in answer.text, path
            assert "<img src=x" not in answer.text, path
            assert len(answer.text) < 200_000, path
            shown = re.sub(r' (?:value|href|hx-get)="[^"]*"', "", answer.text)  # there the text must stay what it is
            assert "\u202e" not in shown, path
            assert "\x1b" not in shown, path
        copy = console.get(f"{at}/pages/1/copy").text
        assert "<script" not in copy
        assert "onclick" not in copy
        assert "<svg" not in copy


ONTOLOGY = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <http://x/> .
:sky a skos:Concept ; skos:prefLabel "astronomy"@en .
:star a skos:Concept ; skos:prefLabel "star"@en ; skos:broader :sky ; skos:related :comet .
:comet a skos:Concept ; skos:prefLabel "comet"@en ; skos:broader :sky .
:sauce a skos:Concept ; skos:prefLabel "sauce"@en .
"""


def test_the_map_of_the_subject_with_what_was_found(crawls: Path, make_console: MakeConsole) -> None:
    (crawls / "map").mkdir()
    (crawls / "map" / "sky.ttl").write_text(ONTOLOGY)
    (crawls / "map" / "crawl.toml").write_text(
        "seeds = ['http://a.example/']\n[topic]\nkind = 'ontology'\nfile = 'sky.ttl'\nfocus = ['astronomy']\n"
    )
    db = CrawlDb(crawls / "map" / "crawl.db").open()
    store = VisitStore(db, None)
    store.open()
    for number, why in enumerate([{"star": 0.5, "comet": 0.1}, {"star": 0.2}, {}], 1):
        url = f"http://a.example/{number}"
        verdict = Verdict(0.9, bool(why), why=why)
        store.write(Visit(Reply(Link(url), url, 200, "text/html"), Page(url, "t"), verdict, digest=url))
    db.commit()
    db.close()
    with make_console(crawls) as console:
        found = console.get("/api/crawls/map/ontology").json()
        rows = {row["label"]: row for row in found["concepts"]}
        assert {label: row["pages"] for label, row in rows.items()} == {
            "astronomy": 0,
            "star": 2,
            "comet": 1,
            "sauce": 0,
        }
        assert [rows[name]["weight"] for name in ("astronomy", "star", "sauce")] == [1.0, 0.8, 0.1]
        assert found["focus"] == ["astronomy"]
        assert {node["label"] for node in found["nodes"]} == {*rows}
        assert sum(edge["is_hierarchy"] for edge in found["edges"]) == 2
        page = console.get("/crawls/map/ontology").text
        assert "<svg" in page
        assert "concept=star" in page
        listed = console.get("/api/crawls/map/pages?concept=star").json()
        assert [one["n"] for one in listed["pages"]] == [2, 1]
        assert console.get("/api/crawls/stars/ontology").json()["words"]
        assert "it has no map of concepts" in console.get("/crawls/stars/ontology").text


def test_classes_and_rules(crawls: Path, make_console: MakeConsole) -> None:
    folder = crawls / "classes"
    folder.mkdir()
    (folder / "crawl.toml").write_text(
        "seeds = ['http://a.example/']\n[topic]\nkind = 'taxonomy'\nexamples = 'tree'\ntarget = ['sci']\n"
    )
    (folder / "rules.json").write_text(
        '{"format": 3, "classes": ["art", "sci"], "counts": {"art": {"sci": 8, "art": 2}}}'
    )
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, None)
    store.open()
    for number in range(1, 9):
        url, source = f"http://a.example/{number}", f"http://a.example/{number // 2}"
        verdict = Verdict(0.5, number % 2 == 0, "sci" if number % 2 == 0 else "art")
        store.write(Visit(Reply(Link(url, source), url, 200, "text/html"), Page(url), verdict, digest=url))
    db.commit()
    db.close()
    with make_console(crawls) as console:
        found = console.get("/api/crawls/classes/taxonomy").json()
        assert [(row["label"], row["pages"], row["relevant"]) for row in found["classes"]] == [
            ("art", 4, 0),
            ("sci", 4, 4),
        ]
        assert found["targets"] == ["sci"]
        mined = found["mined"][0]
        assert (mined["source"], mined["target"], mined["probability"]) == ("art", "sci", 0.8)
        assert taxonomy.strongest({("a", "b"): 3, ("a", "c"): 1}) == [taxonomy.Rule("a", "b", 0.75, 3)]
        assert "label=sci" in console.get("/crawls/classes/taxonomy").text
        assert "its pages have no classes" in console.get("/crawls/stars/taxonomy").text


def test_the_api_document_knows_all_of_it(console: TestClient) -> None:
    document = console.get("/api/openapi.json").json()
    for path in ("pages", "pages/{n}", "why", "frontier", "failures", "search", "ontology", "taxonomy"):
        assert f"/api/crawls/{{name}}/{path}" in {name.replace(":int", "") for name in document["paths"]}
    assert "/api/reports/{report}" in document["paths"]
    names = [one["name"] for one in document["paths"]["/api/crawls/{name}/pages"]["get"]["parameters"]]
    assert {"text", "since", "sort", "after"} <= {*names}
