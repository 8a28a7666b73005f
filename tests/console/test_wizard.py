"""The wizard: from a form to a crawl.toml, with sample pages judged on the way."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import lycosa
from lycosa import config, sampling
from lycosa.console.described import described
from lycosa.console.drafts import Draft, Drafts
from lycosa.errors import BadInput
from lycosa.lab.answer import Answer
from lycosa.lab.serve import Server

DRAFT = "0123456789abcdef"
FORM = {
    "draft": DRAFT,
    "name": "comets",
    "kind": "sentence",
    "sentence": "Comets and  other\nsmall bodies",
    "seeds": "https://example.org/\nexample.com/a\n\n",
    "domains": "example.org",
    "pages": "500",
    "minutes": "30",
    "contact": "https://library.example/bot",
}
Serve = Callable[[Any], AbstractContextManager[Any]]


@pytest.fixture
def draft() -> Any:
    made = Draft()
    yield made
    made.close()


def test_the_form_becomes_the_crawl_toml_a_person_would_write(console: TestClient, crawls: Path) -> None:
    answer = console.post("/new", data=FORM)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/crawls/comets/"
    assert (crawls / "comets" / "crawl.toml").read_text() == (
        'seeds = ["https://example.org/", "example.com/a"]\n\n'
        '[topic]\nkind = "sentence"\nsentence = "Comets and other small bodies"\n\n'
        '[scope]\ndomains = ["example.org"]\n\n'
        '[fetch]\nuser_agent = "Lycosa/0.1 (+https://library.example/bot)"\n\n'
        "[limits]\npages = 500\nseconds = 1800\n"
    )
    config.load(crawls / "comets")
    assert console.get("/api/crawls/comets").json()["state"] == "new"


def test_the_preview_shows_it_before(console: TestClient) -> None:
    page = console.post("/new/preview", data=FORM).text
    assert "kind = &#34;sentence&#34;" in page
    assert "Still missing" not in page
    lacking = console.post("/new/preview", data={"draft": DRAFT, "seeds": "ftp://x", "pages": "many"}).text
    for words in ("not a web URL", "write a sentence", "not a whole number", "give the crawl a name"):
        assert words in lacking


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "stars"}, "already exists"),
        ({"name": "../stars"}, "name: use up to 80 letters"),
        ({"name": ""}, "name: use up to 80 letters"),
        ({"seeds": ""}, "name at least one URL"),
        ({"kind": "nonsense"}, "is not a kind of topic"),
        ({"draft": "x"}, "out of date"),
        ({"kind": "ontology"}, "choose the file of the ontology"),
        ({"delay_s": "soon"}, "not a number of seconds"),
        ({"delay_s": "-1"}, "delay_s"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left_behind(
    change: dict[str, str], words: str, console: TestClient, crawls: Path
) -> None:
    before = sorted(crawls.iterdir())
    answer = console.post("/new", data=FORM | change, headers={"HX-Request": "true"})
    assert answer.status_code == 400
    assert words in answer.text
    assert sorted(crawls.iterdir()) == before


def test_each_kind_of_topic(draft: Draft) -> None:
    def topic(**form: str) -> dict[str, Any]:
        return described(form, draft).topic

    assert topic(kind="keywords", words="a\nb c\na") == {"kind": "keywords", "words": ["a", "b c"]}
    assert topic(kind="sentence", sentence="x", more_words="-y") == {
        "kind": "sentence",
        "sentence": "x",
        "words": ["-y"],
    }
    for name in ("a.html", "b.html"):
        draft.keep("positive", name, b"<title>comet</title>")
    assert topic(kind="examples") == {"kind": "tids", "examples": "examples/positive"}
    draft.keep("negative", "c.html", b"<title>tax</title>")
    assert topic(kind="examples")["kind"] == "examples"
    draft.keep("ontology", "old.ttl", b"")
    draft.keep("ontology", "birds.xtm", b"<topicMap/>")
    assert topic(kind="ontology", focus="wader") == {
        "kind": "ontology",
        "file": "ontology/birds.xtm",
        "focus": ["wader"],
    }
    draft.keep("taxonomy", "tree/science/geology/rock.html", b"rock")
    found = topic(kind="taxonomy", target="science")
    assert found == {"kind": "taxonomy", "examples": "taxonomy", "target": ["science"], "min_pages": 5}
    assert draft.files("taxonomy") == ["taxonomy/science/geology/rock.html"]


@pytest.mark.parametrize("name", ["../../x.html", "/etc/passwd", "..\\..\\x", "a/../../x", "\x00x"])
def test_uploaded_names_stay_in_the_draft(name: str, draft: Draft) -> None:
    for shelf in ("positive", "taxonomy", "ontology"):
        draft.keep(shelf, name, b"x")
    files = [path for path in draft.folder.parent.rglob("*") if path.is_file()]
    assert len(files) == 3
    assert all(path.resolve().is_relative_to(draft.folder) for path in files)
    with pytest.raises(BadInput):
        draft.keep("positive", "..", b"x")
    with pytest.raises(BadInput):
        draft.keep("elsewhere", "x.html", b"x")


def test_uploaded_pages_become_those_of_the_crawl(console: TestClient, crawls: Path) -> None:
    path = f"/new/files/{DRAFT}/positive"
    page = console.post(path, files=[("file", ("a.html", b"<p>comet")), ("file", ("b.html", b"<p>comet tail"))]).text
    assert "2 files" in page
    assert console.post("/new", data=FORM | {"kind": "examples"}).status_code == 303
    assert sorted(path.name for path in (crawls / "comets" / "examples" / "positive").iterdir()) == ["a.html", "b.html"]
    assert lycosa.Topic.open(crawls / "comets").kind == "tids"


def test_samples_of_an_earlier_crawl_are_judged_again_as_the_words_change(console: TestClient, crawls: Path) -> None:
    form = FORM | {"kind": "keywords", "words": "astronomy", "sample_from": "stars"}
    console.post("/new/samples", data=form)
    draft = console.app.state.drafts.get(DRAFT)  # type: ignore[attr-defined]
    draft._thread.join()
    assert len(draft.samples) == 20
    first = console.post("/new/preview", data=form).text
    second = console.post("/new/preview", data=form | {"words": "football"}).text
    assert "of 20 on topic" in first
    assert "of 20 on topic" in second
    assert first != second
    unfinished = console.post("/new/preview", data=form | {"words": ""}).text
    assert "20 pages are ready" in unfinished


class Few:
    """Three pages that link to each other, and a search engine that knows one of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        self.asked.append(url)
        path = "/" + url.split("/", 3)[3]
        if path.startswith("/search?q="):
            found = {"results": [{"url": "https://comets.example/"}]}
            return Answer(headers=(("Content-Type", "application/json"),), body=json.dumps(found).encode())
        if path not in ("/", "/a", "/b"):
            return Answer(status=404)
        return Answer(
            body=f"<title>comet {path}</title><p>comet {path} tail <a href=/a>a</a> <a href=/b>b</a>".encode()
        )


def test_samples_example_pages_and_seeds_from_the_web(console: TestClient, serve: Serve) -> None:
    web = Few()
    with serve(Server(web)) as server:
        here = f"http://localhost:{server.port}"
        form = FORM | {"kind": "keywords", "words": "comet", "allow_private": "1", "delay_s": "0", "seeds": f"{here}/"}
        console.post("/new/samples", data=form)
        draft = console.app.state.drafts.get(DRAFT)  # type: ignore[attr-defined]
        draft._thread.join()
        assert [sample.url for sample in draft.samples] == [f"{here}/", f"{here}/a", f"{here}/b"]
        assert f"{here}/robots.txt" in web.asked
        examples = console.post("/new/example-urls", data=form | {"example_urls": f"{here}/a\n{here}/b"}).text
        assert "2 files" in examples
        proposed = console.post("/new/seeds", data=form | {"search_url": here}).text
        assert "https://comets.example/" in proposed
        assert "1 URL proposed" in proposed
    assert "did not answer" in console.post("/new/seeds", data=form | {"search_url": here}).text
    assert "name the URL of a search engine" in console.post("/new/seeds", data=form).text


def test_samples_that_cannot_be_fetched_say_why(draft: Draft) -> None:
    draft.sample_web(["http://localhost:1/"], {})
    assert draft._thread
    draft._thread.join()
    assert draft.problem == "no page could be fetched from these seeds"


def test_a_topic_that_cannot_be_built_is_explained(tmp_path: Path) -> None:
    sample = sampling.Sample("http://a.example/", lycosa.types.Page(title="x"))
    with pytest.raises(BadInput, match="stop words"):
        sampling.judge({"kind": "keywords", "words": ["the"]}, tmp_path, [sample])


def test_old_drafts_are_dropped() -> None:
    drafts = Drafts()
    first = drafts.get(f"{0:016d}")
    for number in range(1, 21):
        drafts.get(f"{number:016d}")
    assert not first.folder.exists()
    for number in range(1, 21):
        drafts.drop(f"{number:016d}")


def test_a_crawl_by_the_api(console: TestClient, crawls: Path) -> None:
    new = {"name": "api", "seeds": ["https://example.org/"], "topic": {"kind": "keywords", "words": ["comet"]}}
    assert console.post("/api/crawls", json=new).json()["name"] == "api"
    assert (crawls / "api" / "crawl.toml").exists()
    wrong = console.post("/api/crawls", json=new | {"name": "b", "sections": {"limits": {"pages": -1}}})
    assert wrong.status_code == 400
    assert "limits.pages" in wrong.json()["error"]
    assert not (crawls / "b").exists()
