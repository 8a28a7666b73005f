"""`lycosa topic`: train, test, show and try, as a user calls them, and every mistake answered in one line."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from lycosa.cli.topic import app, load
from lycosa.judge import model_file
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.pages import read_pages
from lycosa.store.db import CrawlDb
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange, Link, Page, Reply, Visit

EXAMPLES = Path(__file__).parents[2] / "examples"
Call = Callable[..., str]


@pytest.fixture
def topic(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call the command in this process; what it printed."""
    monkeypatch.setenv("COLUMNS", "150")

    def call(*arguments: str | Path) -> str:
        app([str(argument) for argument in arguments], standalone_mode=False)
        return capfd.readouterr().out

    return call


@pytest.fixture
def lighthouses(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "examples", tmp_path / "lighthouses"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "taxonomy", tmp_path / "tree-crawl"))


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "crawl.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def record(path: Path, pages: dict[str, str]) -> Path:
    """A WARC of these pages."""
    writer = WarcWriter(path.parent / "warc-out", "test/1")
    writer.open()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    for url, html in pages.items():
        writer.write([Exchange(url, b"", head, html.encode(), 1_700_000_000.0)])
    writer.close()
    return next((path.parent / "warc-out").iterdir()).rename(path)


def as_warc(folder: Path) -> tuple[Path, Path]:
    """The pages of the lighthouse example as a WARC with labels."""
    found = {f"http://example.org/{file.stem}": (file.parent.name, file.read_text()) for file in folder.rglob("*.html")}
    warc = record(folder / "web.warc.gz", {url: html for url, (_, html) in found.items()})
    labels = folder / "web.tsv"
    labels.write_text("".join(f"{url}\t{label}\n" for url, (label, _) in found.items()))
    return warc, labels


# -- train ------------------------------------------------------------------------------------------------------------


def test_train_writes_a_model_that_the_next_command_uses(topic: Call, lighthouses: Path) -> None:
    out = topic("train", lighthouses)
    assert out.startswith(f"{lighthouses / model_file.NAME} written: 2 labels, ")
    shutil.rmtree(lighthouses / "pages")
    assert "lighthouse" in topic("show", lighthouses)


def test_train_takes_a_toml_file_too(topic: Call, tree: Path) -> None:
    (tree / "crawl.toml").rename(tree / "other.toml")
    assert "4 labels" in topic("train", tree / "other.toml")
    assert (tree / model_file.NAME).exists()


def test_train_replaces_a_damaged_or_foreign_model(topic: Call, lighthouses: Path) -> None:
    (lighthouses / model_file.NAME).write_bytes(b"rubbish")
    with pytest.raises(BadInput, match="not a model file"):
        topic("show", lighthouses)
    topic("train", lighthouses)
    assert "lighthouse" in topic("show", lighthouses)


def test_train_from_a_warc_with_labels(topic: Call, lighthouses: Path) -> None:
    as_warc(lighthouses)
    change(lighthouses, 'examples = "pages"', 'examples = "web.warc.gz"\nlabels = "web.tsv"')
    assert "2 labels" in topic("train", lighthouses)


def test_there_is_nothing_to_train_for_keywords(topic: Call, tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["tower"]\n')
    with pytest.raises(BadInput, match="a topic of kind 'keywords' does not learn from labelled pages"):
        topic("train", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('target = ["lighthouses"]', 'target = ["x"]', r"line \d+: topic.target: no label 'x' .*lighthouses, other"),
        ('examples = "pages"', 'examples = "gone"', r"line \d+: topic.examples: there is no 'gone'"),
        ('model = "logistic"', 'model = "magic"', r"line \d+: topic.model: "),
        ('model = "logistic"', "title_wait = 3", r"line \d+: topic.title_wait: unknown key for examples"),
        ('kind = "examples"', 'kind = "exampels"', r"line \d+: topic.kind: there is no kind 'exampels'"),
    ],
    ids=["target", "folder", "model", "key", "kind"],
)  # fmt: skip
def test_a_mistake_names_the_line(topic: Call, lighthouses: Path, old: str, new: str, problem: str) -> None:
    change(lighthouses, old, new)
    with pytest.raises(BadInput, match=f"crawl.toml, {problem}"):
        topic("train", lighthouses)


def test_a_folder_without_a_topic_is_named(topic: Call, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no crawl.toml here"):
        topic("train", tmp_path)
    (tmp_path / "crawl.toml").write_text("seeds = []\n")
    with pytest.raises(BadInput, match="topic: this section is needed"):
        topic("train", tmp_path)


def test_a_malformed_labels_file_is_named_with_its_line(topic: Call, lighthouses: Path) -> None:
    _, labels = as_warc(lighthouses)
    labels.write_text(labels.read_text() + "http://example.org/x lighthouses\n")
    change(lighthouses, 'examples = "pages"', 'examples = "web.warc.gz"\nlabels = "web.tsv"')
    with pytest.raises(BadInput, match=r"web.tsv, line 21: not url<TAB>label"):
        topic("train", lighthouses)


# -- test -------------------------------------------------------------------------------------------------------------


def test_cross_validation_prints_figures_and_writes_a_plot(topic: Call, tree: Path) -> None:
    out = topic("test", tree, "--folds", "3")
    for part in ("20 pages", "precision", "ROC AUC", "science.geology", "target", "confusion"):
        assert part in out
    assert (tree / "topic-test.png").read_bytes().startswith(b"\x89PNG")
    assert not (tree / model_file.NAME).exists()


def test_json_is_json_and_repeats(topic: Call, lighthouses: Path) -> None:
    first, again, other = (topic("test", lighthouses, "--json", "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other
    report = json.loads(first)
    assert report["pages"] == 20
    assert report["target"]["auc"] > 0.9
    assert {item["label"] for item in report["classes"]} == {"lighthouses", "other"}
    assert sum(map(sum, report["confusion"])) == 20


def test_another_target_may_be_tested(topic: Call, tree: Path, tmp_path: Path) -> None:
    arguments = ("--target", "crafts.weaving", "--json", "--plot", tmp_path / "p.png")
    assert json.loads(topic("test", tree, *arguments))["target"]["pages"] == 5
    assert (tmp_path / "p.png").exists()
    with pytest.raises(BadInput, match=r"topic.target: no class 'sport'"):
        topic("test", tree, "--target", "sport")


def test_on_other_pages(topic: Call, lighthouses: Path) -> None:
    warc, labels = as_warc(lighthouses)
    report = json.loads(topic("test", lighthouses, "--on", f"{warc}:{labels}", "--json"))
    assert report["pages"] == 20
    assert report["target"]["auc"] == 1.0  # they are the pages it was trained on
    folder = json.loads(topic("test", lighthouses, "--on", lighthouses / "pages", "--json"))
    assert folder["target"] == report["target"]


def test_labels_below_a_class_count_for_it(topic: Call, tree: Path) -> None:
    change(tree, "min_pages = 3", "min_pages = 6")
    report = json.loads(topic("test", tree, "--on", tree / "tree", "--json"))
    assert {item["label"]: item["pages"] for item in report["classes"]} == {"crafts": 10, "science": 10}


def test_keywords_are_tested_as_a_crawl_of_the_pages_ends(topic: Call, tmp_path: Path) -> None:
    """Pages of a topic that has the word only once each: their other words tell."""
    (tmp_path / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["lamp"]\n')
    chance = Random(1)
    for number in range(160):
        label, often = ("light", chance.choice((1, 2, 8))) if number % 2 else ("other", chance.choice((0, 0, 1)))
        (tmp_path / "pages" / label).mkdir(parents=True, exist_ok=True)
        own = " ".join(chance.choices([f"{label}{word}" for word in range(30)], k=60))
        (tmp_path / "pages" / label / f"{chance.random()}.txt").write_text(f"{own} {'lamp ' * often}")
    arguments = ("test", tmp_path, "--on", tmp_path / "pages", "--target", "light", "--json")
    before = tmp_path / "crawl.toml"
    learned = json.loads(topic(*arguments))["target"]
    before.write_text(before.read_text() + "adapt = false\n")
    fixed = json.loads(topic(*arguments))["target"]
    assert learned["f1"] > fixed["f1"]


def test_any_kind_of_topic_can_be_tested_on_labelled_pages(topic: Call, lighthouses: Path) -> None:
    (lighthouses / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["lighthouse", "keeper", "lamp"]\n')
    on = ("--on", lighthouses / "pages")
    report = json.loads(topic("test", lighthouses, *on, "--target", "lighthouses", "--json"))
    assert report["target"]["auc"] > 0.8
    assert report["classes"] == []
    with pytest.raises(BadInput, match="--target: say which labels"):
        topic("test", lighthouses, *on)
    with pytest.raises(BadInput, match=r"--target x: no page has this label \(there are: lighthouses, other\)"):
        topic("test", lighthouses, *on, "--target", "x")
    with pytest.raises(BadInput, match="test it on some with --on"):
        topic("test", lighthouses)


@pytest.mark.parametrize("on", ["gone.warc.gz:gone.tsv", "gone", "crawl.toml"])
def test_on_nothing_is_refused(topic: Call, lighthouses: Path, on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lighthouses)
    with pytest.raises(BadInput, match=f"--on {on}: neither WARC:LABELS nor a folder"):
        topic("test", lighthouses, "--on", on)
    (lighthouses / "none").mkdir()
    with pytest.raises(BadInput, match="--on none: no labelled pages found"):
        topic("test", lighthouses, "--on", "none")


# -- show -------------------------------------------------------------------------------------------------------------


def test_show_lists_the_top_terms_of_each_class(topic: Call, tree: Path) -> None:
    out = topic("show", tree, "--top", "4")
    assert "crafts.pottery" in out
    assert "clay" in out
    sections = json.loads(topic("show", tree, "--top", "4", "--json"))
    assert sorted(sections) == ["crafts.pottery", "crafts.weaving", "science.astronomy", "science.geology"]
    assert all(len(terms) == 4 for terms in sections.values())


def test_show_draws_an_ontology(topic: Call, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "ontology", tmp_path / "birds")
    out = topic("show", folder, "--picture", tmp_path / "birds.png")
    assert "birdwatching  1.0" in out
    assert (tmp_path / "birds.png").read_bytes().startswith(b"\x89PNG")


def test_only_an_ontology_has_a_map(topic: Call, tree: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--picture: a topic of kind 'taxonomy' has no map"):
        topic("show", tree, "--picture", tmp_path / "x.png")


# -- try -------------------------------------------------------------------------------------------------------------


def test_try_gives_verdict_and_reasons(topic: Call, lighthouses: Path, tmp_path: Path) -> None:
    (tmp_path / "new.html").write_text("<title>The beam</title><p>The keeper lit the lamp of the lighthouse tower.")
    (tmp_path / "old.txt").write_text("Bake the bread in a hot pot until the crust is dark.")
    out = topic("try", lighthouses, tmp_path / "new.html", tmp_path / "old.txt")
    assert f"{tmp_path / 'new.html'}: on topic, relevance 0." in out
    assert f"{tmp_path / 'old.txt'}: off topic, relevance 0." in out
    assert any(line.split()[0].startswith("+") and line.split()[1] == "lighthouse" for line in out.splitlines())


def test_try_shows_the_passages_that_speak_for_and_against(topic: Call, tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["lighthouse", "keeper"]\n')
    dull = "The committee met on Monday and the minutes were approved by all who were present in the hall. " * 3
    page = tmp_path / "page.html"
    page.write_text(f"<title>News</title><p>{dull}<p>The keeper lit the lamp of the lighthouse.<p>{dull}")
    out = topic("try", tmp_path, page)
    assert "  for" in out
    assert "The *keeper* lit the lamp" in out
    assert "  against  0.00  The committee met" in out
    [found] = json.loads(topic("try", tmp_path, page, "--json"))
    assert found["for"][0]["words"].keys() == {"keeper", "lighthouse"}
    assert found["for"][0]["score"] > found["against"][0]["score"] == 0
    assert found["model"] == "keywords 1"


def test_a_topic_that_judges_whole_pages_only_is_tried_without_passages(
    topic: Call, lighthouses: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lycosa.cli.topic.passages", lambda page, judge: [])
    out = topic("try", lighthouses, lighthouses / "pages" / "other" / "owls.html")
    assert "off topic" in out
    assert "against" not in out


def test_try_prints_json(topic: Call, tree: Path) -> None:
    pages = tree / "tree" / "science"
    found = json.loads(topic("try", tree, pages, "--json"))
    assert len(found) == 10
    assert all(item["on_topic"] for item in found)
    assert found[0]["page"].endswith("science/astronomy/comets.html")
    assert len(found[0]["why"]) == 10
    assert set(found[0]["classes"]) >= {"science.geology", "crafts.weaving"}


def test_try_reads_a_warc(topic: Call, lighthouses: Path) -> None:
    warc, _ = as_warc(lighthouses)
    found = json.loads(topic("try", lighthouses, warc, "--json"))
    assert len(found) == 20


def test_what_is_neither_file_nor_url_is_refused(topic: Call, lighthouses: Path) -> None:
    with pytest.raises(BadInput, match="no such thing: neither a file nor a URL"):
        topic("try", lighthouses, "no such thing")


@pytest.mark.parametrize("name", ["some-page.html", "notes.TXT", "en.example/wiki", "x.warc", "./x.org", "a.tar.gz"])
def test_a_file_that_is_not_there_is_not_asked_for_on_the_web(topic: Call, lighthouses: Path, name: str) -> None:
    with pytest.raises(BadInput, match=f"{name}: .*no such "):
        topic("try", lighthouses, name)


def test_try_refuses_what_is_no_page(topic: Call, lighthouses: Path, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    with pytest.raises(BadInput, match=r"photo\.png: a PNG image, not a page"):
        topic("try", lighthouses, tmp_path / "photo.png")
    (tmp_path / "web.warc.gz").write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(BadInput, match=r"web\.warc\.gz: cannot be read as a WARC"):
        topic("try", lighthouses, tmp_path / "web.warc.gz")


def test_no_page_judged_is_a_failure(lighthouses: Path) -> None:
    """No connection leads to port 1."""
    change(lighthouses, "delay_s = 0.05", "delay_s = 0.0\nretries = 0")
    outcome = CliRunner().invoke(app, ["try", str(lighthouses), "http://127.0.0.1:1/"])
    assert outcome.exit_code == 2
    assert "none of the pages could be judged" in outcome.stderr
    page = str(lighthouses / "pages" / "other" / "owls.html")
    assert CliRunner().invoke(app, ["try", str(lighthouses), "http://127.0.0.1:1/", page]).exit_code == 0


@pytest.mark.parametrize("kind", ["tids", "ontology"])
def test_the_same_page_gets_the_same_verdict_however_often_it_is_shown(topic: Call, kind: str, tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("The wolf spider hunts at night. Birdwatching: a wader runs along the shore, a spider hides.")
    first, *others = json.loads(topic("try", EXAMPLES / kind, page, page, page, "--json"))
    assert first["relevance"] > 0
    assert others == [first, first]


def test_what_the_crawl_learned_counts(topic: Call, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES / "tids", tmp_path / "spiders"))
    page = folder / "pages" / "silk.html"
    shown, verdict = topic("show", folder, "--json"), topic("try", folder, page, "--json")
    judge = load(folder).judge
    judge.prepare(folder, read_pages)
    judge.accept = judge.bound_ = 0
    seen = Page(text="", words=["galaxy", "spider"] * 900)
    judge.learn(Visit(Reply(Link("http://x/")), seen, asyncio.run(judge.judge(seen))))
    db = CrawlDb(folder / "crawl.db").open()
    db.put("state:judge", json.dumps(judge.save()))
    db.commit()
    db.close()
    assert "terms of 12 pages" in shown
    assert "terms of 13 pages" in topic("show", folder, "--json")
    assert topic("try", folder, page, "--json") != verdict


async def test_try_fetches_urls_politely(topic: Call, lighthouses: Path) -> None:
    web: Any = GeneratedWeb(pages=20, hosts=2, ip_hosts=True, seed=3, text=Text(size_bytes=(1_000, 2_000)))
    change(lighthouses, "delay_s = 0.05", "delay_s = 0.0\nretries = 0")
    async with Server(web, bind="0.0.0.0") as server:
        url = web.seeds(server.port)[0]
        gone = f"{url.rstrip('/')}/there-is-no-such-page"
        out = await asyncio.to_thread(topic, "try", lighthouses, url, gone, "--json")
    good, bad = sorted(json.loads(out), key=lambda item: len(item["error"]))
    assert good["page"] == url
    assert good["error"] == ""
    assert bad["error"].startswith("http-404")
    assert bad["relevance"] == 0
