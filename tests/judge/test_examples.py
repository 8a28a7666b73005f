"""The topic `examples`: every model learns from a few pages, reasons are readable, bad input is one clear line."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from lycosa.judge import model_file as files
from lycosa.judge import training
from lycosa.judge.corpus import read_labels
from lycosa.judge.examples import Examples
from lycosa.text import words
from lycosa.types import BadInput, Page, TextRelevance, Verdict

MODELS = ["nb", "svm", "logistic", "mlp", "vote"]
SHIPPED = Path(__file__).parents[2] / "examples" / "examples"
SUBJECTS = {
    "music": "violin sonata orchestra melody piano concert harmony chord rhythm opera singer tune".split(),
    "food": "bread butter cheese recipe oven soup pepper kitchen flavour salad baking sugar".split(),
    "sport": "football goal match player league coach team stadium score training sprint medal".split(),
}
COMMON = "people time year good great make find look work place small large world day night house story".split()


def read(path: Path) -> Iterator[tuple[str, Page]]:
    """HTML and text files below a folder."""
    for file in sorted(path.rglob("*")):
        if file.suffix in (".html", ".txt"):
            tree = LexborHTMLParser(file.read_text())
            title = tree.css_first("title")
            text = tree.body.text(separator=" ") if tree.body else ""
            yield file.relative_to(path).as_posix(), Page(title=title.text() if title else "", words=words(text))


def text_on(subject: str, random: Random, size: int = 60) -> str:
    return " ".join(random.choice(SUBJECTS[subject] if random.random() < 0.3 else COMMON) for _ in range(size))


def write(folder: Path, pages: dict[str, tuple[str, int]]) -> Path:
    """From a label to its subject and the number of its pages."""
    random = Random(1)
    for label, (subject, number) in pages.items():
        (folder / "pages" / label).mkdir(parents=True)
        for count in range(number):
            (folder / "pages" / label / f"{count}.txt").write_text(text_on(subject, random))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path, {"positive": ("music", 10), "food": ("food", 10), "sport": ("sport", 10)})


def make(folder: Path, **options: Any) -> Examples:
    judge = msgspec.convert({"examples": "pages", **options}, Examples)
    judge.prepare(folder, read)
    return judge


def judged(judge: Examples, text: str, **more: str) -> Verdict:
    return asyncio.run(judge.judge(Page(words=words(text), **more)))


def areas(relevance: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The area under the ROC curve, by counting pairs."""
    pairs = np.subtract.outer(relevance[truth], relevance[~truth])
    return float(np.mean(pairs > 0) + np.mean(pairs == 0) / 2)


@pytest.mark.parametrize("model", MODELS)
def test_ten_positive_pages_are_enough(folder: Path, model: str) -> None:
    judge = make(folder, model=model)
    random = Random(2)
    pages = [(subject, judged(judge, text_on(subject, random))) for subject in SUBJECTS for _ in range(20)]
    relevance = np.array([verdict.relevance for _, verdict in pages])
    truth = np.array([subject == "music" for subject, _ in pages])
    assert areas(relevance, truth) > 0.97
    for _, verdict in pages:
        assert 0 <= verdict.relevance <= 1
        assert sum(verdict.classes.values()) == pytest.approx(1)
        assert set(verdict.classes) == {"positive", "food", "sport"}
        assert len(verdict.why) <= 10


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_model_judges_alike_and_without_the_trainer(
    folder: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = make(folder, model=model)
    training.make(judge, folder, read).save(folder / files.NAME, judge.KIND)
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    again = msgspec.convert({"examples": "pages", "model": model}, Examples)
    again.prepare(folder, lambda path: pytest.fail("the pages were read"))
    text = text_on("music", Random(3))
    assert judged(again, text) == judged(judge, text)


@pytest.mark.parametrize("model", MODELS)
def test_training_repeats_exactly(folder: Path, model: str) -> None:
    text = text_on("food", Random(4))
    assert judged(make(folder, model=model), text) == judged(make(folder, model=model), text)


def test_reasons_are_words_with_sign_and_size(folder: Path) -> None:
    found = judged(make(folder), "sonata violins melody kitchen people")
    assert found.why["violin"] > 0
    assert found.why["kitchen"] < 0
    sizes = [abs(weight) for weight in found.why.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_the_vote_needs_two(folder: Path) -> None:
    judge = make(folder, model="vote")
    random = Random(5)
    for subject in SUBJECTS:
        page = Page(words=words(text_on(subject, random, 8)))
        opinion = judge.classifier_.look(*judge.classifier_.features.read(page))
        votes = np.sum(opinion.probabilities @ judge.focus_.target >= 0.5)
        assert asyncio.run(judge.judge(page)).on_topic == (votes >= 2)


@pytest.mark.parametrize("model", ["logistic", "mlp", "vote"])
def test_a_few_words_are_judged_as_a_page_of_them(folder: Path, model: str) -> None:
    judge = make(folder, model=model, fields={})
    assert isinstance(judge, TextRelevance)
    for text in ("violin sonata", "bread butter violin violin", "the football people"):
        assert judge.relevance_of(words(text)) == pytest.approx(judged(judge, text).relevance, rel=1e-4)
    assert judge.relevance_of(["violin"]) > judge.relevance_of(["unheard"]) > judge.relevance_of(["bread"])
    assert judge.relevance_of([]) == judge.relevance_of(["unheard"])


def test_before_it_is_prepared_every_page_is_off_topic() -> None:
    assert judged(Examples("pages"), "violin sonata") == Verdict()


def test_several_targets(folder: Path) -> None:
    judge = make(folder, target=["food", "sport"])
    assert judged(judge, "football goal match").on_topic
    assert judged(judge, "bread butter cheese").on_topic
    assert not judged(judge, "violin sonata").on_topic


def test_the_threshold_decides(folder: Path) -> None:
    text = "violin people bread time"
    relevance = judged(make(folder), text).relevance
    assert judged(make(folder, threshold=relevance - 0.01), text).on_topic
    assert not judged(make(folder, threshold=relevance + 0.01), text).on_topic


def test_negatives_are_drawn_for_each_positive(tmp_path: Path) -> None:
    write(tmp_path, {"positive": ("music", 6), "food": ("food", 40), "sport": ("sport", 40)})
    judge = msgspec.convert({"examples": "pages", "negatives": 2}, Examples)
    corpus = judge.corpus(tmp_path, read)
    labels = np.array(corpus.labels)
    chosen = judge._draw(labels, np.arange(len(corpus)))
    assert np.sum(labels[chosen] == "positive") == 6
    assert len(chosen) == 18
    assert (chosen == judge._draw(labels, np.arange(len(corpus)))).all()
    judge.seed = 1
    assert (chosen != judge._draw(labels, np.arange(len(corpus)))).any()
    assert judged(make(tmp_path, negatives=2), "violin sonata melody").on_topic


def test_title_and_address_count(tmp_path: Path) -> None:
    """Texts alike; only where a word stands tells the labels apart."""
    random = Random(6)
    pages = []
    for number in range(12):
        for label in ("positive", "negative"):
            text = random.choices(COMMON, k=40)
            pages.append((f"{label}/{number}.html", Page(f"http://h{number}.org/{label}s/", label, words=text)))
    (tmp_path / "pages").mkdir()
    judge = msgspec.convert({"examples": "pages"}, Examples)
    judge.prepare(tmp_path, lambda path: pages)
    found = judged(judge, "people time", url="http://new.org/positives/1")
    assert found.on_topic
    assert "url: positives" in found.why
    assert judged(judge, "people time", title="Positive").on_topic
    assert not judged(judge, "people time", title="negative", url="http://positive.org/negatives/").on_topic


def test_describe_has_a_section_for_each_label(folder: Path) -> None:
    sections = dict(make(folder).describe(3))
    assert set(sections) == {"positive", "food", "sport"}
    assert {word for word, _ in sections["food"]} <= {*SUBJECTS["food"], *(f"start: {w}" for w in SUBJECTS["food"])}
    assert all(len(terms) <= 3 for terms in sections.values())


def test_one_label_alone_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"positive": ("music", 5)})
    with pytest.raises(BadInput, match=r"topic.examples: only the label 'positive' in pages; at least two"):
        make(tmp_path)


def test_no_page_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    with pytest.raises(BadInput, match=r"topic.examples: no labelled page in pages"):
        make(tmp_path)


def test_an_unknown_target_names_the_labels(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"topic.target: no label 'x' in pages \(there are: food, positive, sport\)"):
        make(folder, target=["food", "x"])


def test_without_a_label_positive_the_target_must_be_said(tmp_path: Path) -> None:
    write(tmp_path, {"a": ("music", 3), "b": ("food", 3)})
    with pytest.raises(BadInput, match=r"topic.target: say which labels are on topic.*there are: a, b"):
        make(tmp_path)


def test_a_loaded_model_is_asked_for_the_target_too(folder: Path) -> None:
    judge = make(folder)
    training.make(judge, folder, read).save(folder / files.NAME, judge.KIND)
    with pytest.raises(BadInput, match=r"topic.target: no label 'x'"):
        make(folder, target=["x"])


def test_every_label_a_target_is_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"topic.target: every label is a target"):
        make(folder, target=["food", "positive", "sport"])


def test_one_page_of_the_target_is_too_few(tmp_path: Path) -> None:
    write(tmp_path, {"positive": ("music", 1), "food": ("food", 5)})
    with pytest.raises(BadInput, match=r"topic.examples: 1 pages of the target and 5 others; at least 2"):
        make(tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_two_pages_of_each_are_enough_to_start(tmp_path: Path, model: str) -> None:
    write(tmp_path, {"positive": ("music", 2), "food": ("food", 1), "sport": ("sport", 1)})
    assert np.isfinite(judged(make(tmp_path, model=model), "violin people").relevance)


def test_an_empty_page_among_the_examples_is_skipped_and_named(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "pages/positive/empty.html").write_text("")
    assert judged(make(folder), "violin sonata").on_topic
    assert "positive/empty.html" in caplog.text


@pytest.mark.parametrize(
    "options",
    [
        {"model": "tree"},
        {"features": -1},
        {"features": "many"},
        {"negatives": 0},
        {"negatives": "some"},
        {"threshold": 1.0},
        {"fields": {"footer": 1}},
        {"fields": {"title": -1}},
        {"target": "positive"},
    ],
    ids=str,
)
def test_wrong_options_do_not_convert(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"examples": "pages", **options}, Examples)


def test_the_shipped_example_works() -> None:
    judge = Examples("pages", target=["lighthouses"])
    judge.prepare(SHIPPED, read)
    found = judged(judge, "The keeper climbed the tower at dusk and lit the lamp; its beam warned every ship.")
    assert found.on_topic
    assert "tower" in found.why
    assert not judged(judge, "Let the dough rest over night and bake the bread until the crust is dark.").on_topic
    results = [result for part in training.cross_validate(judge, judge.corpus(SHIPPED, read), 5, 0) for result in part]
    relevance = np.array([verdict.relevance for _, verdict in results])
    assert areas(relevance, np.array([label == "lighthouses" for label, _ in results])) > 0.9


def recorded() -> Path:
    """The recorded webs, where somebody has them."""
    return Path(os.environ.get("LYCOSA_WEBS") or Path(__file__).parents[3] / "shared" / "webs")


@pytest.mark.skipif(not (recorded() / "webkb-misc.warc.gz").exists(), reason="no recorded webs: set LYCOSA_WEBS")
@pytest.mark.xdist_group("webs")
@pytest.mark.slow
def test_it_orders_a_web_it_was_not_trained_on() -> None:
    """Trained on other universities; the area over students, faculty, courses and projects of a new one."""
    from lycosa.pages import read_pages

    webs, labels = recorded(), read_labels(recorded() / "webkb-wisconsin.labels.tsv")
    names = ("webkb-misc", "webkb-texas")
    judge = Examples([f"{name}.warc.gz" for name in names], [f"{name}.labels.tsv" for name in names], ["course"])
    judge.prepare(webs, read_pages)
    pages = {url: page for url, page in read_pages(webs / "webkb-wisconsin.warc.gz") if url in labels}
    found = [judge.classifier_.verdict(page, judge.focus_).classes for page in pages.values()]
    truth = np.array([labels[url] for url in pages])
    mean = np.mean(
        [
            areas(np.array([classes.get(label, 0.0) for classes in found]), truth == label)
            for label in ("student", "faculty", "course", "project")
        ]
    )
    assert mean >= 0.96
