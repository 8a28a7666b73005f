"""Choosing terms, training, testing on pages held back, and knowing when a model file is out of date."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lycosa.judge import model_file, training
from lycosa.judge.bayes import fit_bayes
from lycosa.judge.classifier import Head
from lycosa.judge.corpus import Corpus
from lycosa.judge.examples import Examples
from lycosa.judge.sparse import Rows
from lycosa.text import words
from lycosa.types import BadInput, Page

CATS = ["cats purr on the sofa", "a cat and its whiskers", "the purring cat", "cats hunt mice and purr"]
DOGS = ["dogs bark at the post", "a dog and its bone", "the barking dog", "dogs fetch sticks and bark"]


def corpus() -> Corpus:
    found = Corpus({"title": 1})
    for label, texts in (("cat", CATS), ("dog", DOGS)):
        for number, text in enumerate(texts):
            found.add(f"{label}{number}", label, Page(words=words(text), title=text.split()[1]))
    return found


def bayes(rows: Rows, classes: np.ndarray, size: int) -> list[tuple[str, Head]]:
    return [("nb", fit_bayes(rows, classes, size))]


def test_the_terms_that_tell_labels_apart_are_chosen() -> None:
    found = training.train(corpus(), np.arange(8), 4, bayes)
    assert set(found.features.terms) == {"cat", "dog", "purr", "bark"}
    assert found.labels == ["cat", "dog"]
    assert found.facts.heads == ["nb"]


def test_a_term_on_one_page_is_never_chosen() -> None:
    found = training.train(corpus(), np.arange(8), 0, bayes)
    assert not {"whisker", "bone", "sofa", "mice"} & set(found.features.terms)


def test_terms_are_shown_as_words_with_their_place() -> None:
    found = training.train(corpus(), np.arange(8), 0, bayes)
    shown = dict(zip(found.facts.terms, found.facts.words, strict=True))
    assert shown["cat"] in ("cat", "cats")
    assert shown["purr"] in ("purr", "purring")
    assert all(word == f"title: {shown[term.split(':')[1]]}" for term, word in shown.items() if ":" in term)


def test_url_words_are_shown_as_they_are() -> None:
    found = Corpus({"url": 1})
    for number in range(4):
        label = ("course", "other")[number % 2]
        found.add(str(number), label, Page(url=f"http://h/{label}s/{number}", words=["same", f"w{number}"]))
    shown = training.train(found, np.arange(4), 0, bayes).facts.words
    assert "url: courses" in shown


def test_top_terms_speak_for_their_class() -> None:
    top = dict(training.train(corpus(), np.arange(8), 0, bayes).describe(5))
    assert top["cat"][0][0] in ("cat", "cats")
    assert top["dog"][0][0] in ("dog", "dogs")
    for terms in top.values():
        weights = [weight for _, weight in terms]
        assert weights == sorted(weights, reverse=True)
        assert min(weights) > 0


def test_only_the_chosen_pages_teach() -> None:
    chosen = np.array([0, 1, 4, 5])
    assert training.train(corpus(), chosen, 0, bayes).features.terms == ["cat", "dog"]


def test_pages_that_share_no_word_teach_nothing() -> None:
    found = Corpus({})
    for number in range(4):
        found.add(str(number), f"label{number % 2}", Page(words=[f"word{number}"]))
    with pytest.raises(BadInput, match=r"topic.examples: no word occurs on two of the pages"):
        training.train(found, np.arange(4), 0, bayes)


def test_cross_validation_judges_every_page_once_and_as_the_judge_would() -> None:
    judge = Examples("pages", target=["cat"], model="nb")
    found = corpus()
    parts = list(training.cross_validate(judge, found, 4, seed=1))
    assert len(parts) == 4
    results = [result for part in parts for result in part]
    assert sorted(label for label, _ in results) == sorted(found.labels)
    assert np.mean([verdict.on_topic == (label == "cat") for label, verdict in results]) >= 0.75
    again = [result for part in training.cross_validate(judge, found, 4, seed=1) for result in part]
    assert again == results


def test_counted_and_read_pages_get_the_same_verdict() -> None:
    judge = Examples("pages", target=["cat"], model="nb")
    found = corpus()
    trained = judge.fit(found, np.arange(8))
    focus = judge.focus(trained)
    rows = found.rows().keep(np.array([found.terms[term] for term in trained.features.terms]))
    counted = [trained.decide(ids, values, focus) for ids, values in training.weigh(trained.features, rows)]
    texts = [*CATS, *DOGS]
    read = [trained.verdict(Page(words=words(text), title=text.split()[1]), focus) for text in texts]
    for one, other in zip(counted, read, strict=True):
        assert one.relevance == pytest.approx(other.relevance)
        assert one.why == pytest.approx(dict(other.why))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for label, texts in (("positive", CATS), ("negative", DOGS)):
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number, text in enumerate(texts):
            (tmp_path / "pages" / label / f"{number}.txt").write_text(text)
    return tmp_path


def read(path: Path) -> Iterator[tuple[str, Page]]:
    for file in sorted(path.rglob("*.txt")):
        yield file.relative_to(path).as_posix(), Page(words=words(file.read_text()))


def never(path: Path) -> Iterator[tuple[str, Page]]:
    raise AssertionError("the pages were read")


def saved(judge: Examples, folder: Path) -> None:
    training.make(judge, folder, read).save(folder / model_file.NAME, judge.KIND)


def test_without_a_model_it_trains_and_writes_nothing(folder: Path) -> None:
    found = training.load_or_train(Examples("pages", model="nb"), folder, read)
    assert found.labels == ["negative", "positive"]
    assert not (folder / model_file.NAME).exists()


def test_a_model_of_the_same_options_and_pages_is_used(folder: Path) -> None:
    saved(Examples("pages", model="nb"), folder)
    other_target = Examples("pages", model="nb", target=["negative"], threshold=0.9)
    assert training.load_or_train(other_target, folder, never).labels == ["negative", "positive"]


@pytest.mark.parametrize("options", [{"features": 3}, {"fields": {}}, {"seed": 1}, {"negatives": 1.0}], ids=str)
def test_other_options_train_anew(folder: Path, options: dict[str, object], caplog: pytest.LogCaptureFixture) -> None:
    saved(Examples("pages", model="nb"), folder)
    before = (folder / model_file.NAME).read_bytes()
    judge = Examples("pages", model="nb", **options)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        assert training.load_or_train(judge, folder, read).facts.options == judge.recipe()
    assert "made from other options or pages; training again" in caplog.text
    assert (folder / model_file.NAME).read_bytes() == before


def test_other_pages_train_anew(folder: Path) -> None:
    judge = Examples("pages", model="nb")
    saved(judge, folder)
    (folder / "pages/positive/0.txt").write_text("kittens and cats")
    with pytest.raises(AssertionError, match="the pages were read"):
        training.load_or_train(judge, folder, never)


def test_the_model_alone_will_do(folder: Path) -> None:
    judge = Examples("pages", model="nb")
    saved(judge, folder)
    (folder / "pages").rename(folder / "elsewhere")
    assert training.load_or_train(judge, folder, never).labels == ["negative", "positive"]
    with pytest.raises(BadInput, match="trained with other options, and the pages to train it again are gone"):
        training.load_or_train(Examples("pages", model="nb", features=7), folder, never)


def test_a_damaged_model_is_not_passed_over(folder: Path) -> None:
    judge = Examples("pages", model="nb")
    saved(judge, folder)
    path = folder / model_file.NAME
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="damaged or cut short"):
        training.load_or_train(judge, folder, read)
