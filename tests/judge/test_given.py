"""The training pages of a judge, each judged by a classifier that does not know it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lycosa.judge import given
from lycosa.judge.correction import places
from lycosa.judge.examples import Examples
from lycosa.judge.given import Reading
from lycosa.judge.taxonomy import Taxonomy
from lycosa.types import BadInput, Page

TOPICS = {"cat": "cats purr whisker sofa mice".split(), "dog": "dogs bark bone post stick".split()}


def pages(number: int = 8) -> list[tuple[str, Page]]:
    """Of each topic so many; the last one of each has the words of the other."""
    found = []
    for label, words in TOPICS.items():
        for place in range(number):
            text = words if place < number - 1 else TOPICS["dog" if label == "cat" else "cat"]
            found.append((f"{label}/{place}.html", Page(words=[*text[place % 3 :], "page", "home"], title=text[0])))
    return found


@pytest.fixture(params=["examples", "taxonomy"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Examples | Taxonomy:
    found = Examples(".", target=["cat"], model="nb") if request.param == "examples" else Taxonomy(".", ["cat"])
    if isinstance(found, Taxonomy):
        found.min_pages = 1
    found.prepare(tmp_path, lambda path: pages())
    return found


class TestGiven:
    def test_every_training_page_with_its_label_and_words(self, judge: Examples | Taxonomy) -> None:
        found = judge.given()
        assert len(found) == 16
        assert sum(one.on_topic for one in found) == 8
        wanted = sorted(tuple(sorted(places(page).tolist())) for _, page in pages())
        assert sorted(tuple(one.places.tolist()) for one in found) == wanted
        assert {one.places.dtype for one in found} == {np.dtype(np.uint16)}

    def test_the_verdicts_do_not_know_the_labels(self, judge: Examples | Taxonomy) -> None:
        wrong = [one for one in judge.given() if one.verdict.on_topic != one.on_topic]
        assert len(wrong) == 2  # the page of each topic that has the words of the other

    def test_of_many_pages_a_sample(self, judge: Examples | Taxonomy, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(given, "MOST_GIVEN", 4)
        found = judge.given()
        assert 2 <= len(found) <= 4
        assert {one.on_topic for one in found} == {True, False}

    def test_a_model_without_its_pages(self, judge: Examples | Taxonomy) -> None:
        judge.examples = "gone"
        assert judge.given() == []

    def test_before_it_is_prepared(self) -> None:
        assert Examples(".").given() == []


def test_a_problem_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Iterator[None]:
        raise BadInput("x.warc.gz: damaged")

    reading = Reading(fail)  # type: ignore[arg-type]
    reading.run()
    assert reading.is_done
    assert reading.pages == []
    assert "x.warc.gz: damaged" in caplog.text
