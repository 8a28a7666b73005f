"""Which topic judged: what counts as a change of it, and what does not."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa import build, config
from lycosa.stamp import Stamp, fits, make_stamp, what_changed
from lycosa.store.db import CrawlDb

TOPICS = {
    "keywords": 'words = ["sky"]',
    "ontology": 'file = "map.ttl"',
    "tids": 'examples = "pages/good"\nidf = "smooth"',
    "examples": 'examples = "pages"\ntarget = ["good"]\nmodel = "nb"',
    "taxonomy": 'examples = "pages"\ntarget = ["good"]\nmin_pages = 1',
}
STATEFUL = ["keywords", "ontology", "tids"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "map.ttl").write_text(
        '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<http://x/sky> skos:prefLabel "sky" .\n'
    )
    for label, words in {"good": "sky planet orbit", "bad": "soup pan oven"}.items():
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "pages" / label / f"{number}.html").write_text(f"<p>{words} {'lens ' * number}")
    return tmp_path


def judge_of(folder: Path, kind: str, options: str = "") -> Any:
    (folder / "crawl.toml").write_text(f'[topic]\nkind = "{kind}"\n{options or TOPICS[kind]}\n')
    return build.make_judge(*config.load(folder))


def stamp_of(folder: Path, kind: str, options: str = "") -> Stamp:
    return make_stamp(judge_of(folder, kind, options), kind, folder)


@pytest.mark.parametrize("kind", TOPICS)
def test_the_same_topic_is_no_change(folder: Path, kind: str) -> None:
    before = msgspec.json.decode(msgspec.json.encode(stamp_of(folder, kind)), type=Stamp)  # as crawl.db gives it back
    assert before.changes(stamp_of(folder, kind)) == []


def test_a_default_written_down_is_no_change(folder: Path) -> None:
    assert stamp_of(folder, "keywords").changes(stamp_of(folder, "keywords", 'words = ["sky"]\nthreshold = 0.5')) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('words = ["sky", "lens"]', "words: lens added"),
        ('words = ["lens"]', "words: lens added; sky removed"),
        ('words = ["sky"]\nthreshold = 0.3', "threshold was 0.5 and is 0.3"),
        (
            'words = ["sky"]\n[topic.weights]\ntitle = 9.0',
            'weights was {"title":3.0,"text":1.0,"url":1.0} and is {"title',
        ),
    ],
)
def test_changed_keys_are_named(folder: Path, options: str, said: str) -> None:
    (change,) = stamp_of(folder, "keywords").changes(stamp_of(folder, "keywords", options))
    assert change.startswith(said)


@pytest.mark.parametrize(("kind", "file"), [("ontology", "map.ttl"), ("tids", "pages/good/1.html")])
@pytest.mark.parametrize("change", [True, False])
def test_changed_files_are_named_and_touched_ones_are_not(folder: Path, kind: str, file: str, change: bool) -> None:
    before = stamp_of(folder, kind)
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace("sky", "star") if change else text)
    key = "file" if kind == "ontology" else "examples"
    assert before.changes(stamp_of(folder, kind)) == [f"the content of {key} has changed"] * change


@pytest.mark.parametrize("kind", ["examples", "taxonomy"])
def test_labels_are_part_of_the_examples(folder: Path, kind: str) -> None:
    before = stamp_of(folder, kind)
    (folder / "pages" / "good" / "0.html").rename(folder / "pages" / "bad" / "new.html")
    assert before.changes(stamp_of(folder, kind)) == ["the content of examples has changed"]


def test_a_model_stands_for_the_examples_it_was_made_from(folder: Path) -> None:
    judge = judge_of(folder, "examples")
    before = make_stamp(judge, "examples", folder)
    judge.classifier_.save(folder / "topic.model", "examples")
    assert before.changes(stamp_of(folder, "examples")) == []
    (folder / "pages").rename(folder / "gone")
    assert before.changes(stamp_of(folder, "examples")) == []


@pytest.mark.parametrize("kind", TOPICS)
@pytest.mark.parametrize("saved", TOPICS)
def test_whose_state_it_is(folder: Path, kind: str, saved: str) -> None:
    state = msgspec.json.encode(judge_of(folder, saved).save()).decode() if saved in STATEFUL else ""
    same = saved == kind or not {saved, kind} & {*STATEFUL}  # those that save nothing cannot be told apart
    assert fits(judge_of(folder, kind), state) == same


def begun(judged: bool, **meta: str) -> CrawlDb:
    db = CrawlDb(":memory:").open()
    db.execute("INSERT INTO visits (n, url, relevance) VALUES (1, 'http://a/', ?)", (0.5 if judged else None,))
    for key, value in meta.items():
        db.put(key.replace("_", ":"), value)
    return db


def test_where_nothing_was_judged_the_topic_may_change_and_old_state_is_not_loaded(folder: Path) -> None:
    judge = judge_of(folder, "tids")
    db = begun(False, state_judge='{"pages": 1, "df": {}}')
    assert what_changed(db, judge, make_stamp(judge, "tids", folder)) == []
    assert db.get("state:judge") == ""
    keywords = judge_of(folder, "keywords")
    assert what_changed(db, keywords, make_stamp(keywords, "keywords", folder)) == []
    db.close()


def test_a_folder_without_a_stamp_is_known_by_its_state(folder: Path) -> None:
    judge = judge_of(folder, "tids")
    db = begun(True, state_judge='{"pages": 1, "df": {}}')
    assert what_changed(db, judge, make_stamp(judge, "tids", folder)) == ["kind is tids and was a different one"]
    assert db.get("state:judge")
    ontology = judge_of(folder, "ontology")
    assert what_changed(db, ontology, make_stamp(ontology, "ontology", folder)) == []
    assert what_changed(db, judge, make_stamp(judge, "tids", folder)) == ["kind was ontology and is tids"]
    db.close()
