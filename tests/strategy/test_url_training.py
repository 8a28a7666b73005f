"""Labelled URLs are read with care, and what is learned from them is the optimum of its loss."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.strategy import url_training
from lycosa.strategy.url_training import built_in, cross_validate, minimise, parse_labels, read_labels, train
from lycosa.types import BadInput


def test_the_built_in_list_is_sound() -> None:
    labels = built_in()
    counts = Counter(label for _, label in labels)
    assert set(counts) == {"publication", "homepage", "staff", "department", "other"}
    assert min(counts.values()) > 30
    assert len({url.split("/", 3)[3] for url, _ in labels}) == len(labels), "no path twice"
    assert all("example" in url.split("/")[2] for url, _ in labels), "invented hosts only"


def test_what_it_teaches() -> None:
    model = train(built_in())
    path = ["cs/", "cs/acad_staff.html", "~kanmy/", "~kanmy/pubs.html"]
    found = [model.class_of(f"http://www.comp.nus.edu.sg/{part}") for part in path]
    assert found == ["department", "staff", "homepage", "publication"]
    assert model.class_of("http://a.org/~someone/unheard/of.html") == "other"


def test_urls_it_never_saw_are_mostly_told_right() -> None:
    results = list(cross_validate(built_in(), 4))
    assert len(results) == len(built_in())
    assert sum(label == guess for _, label, guess in results) > 0.75 * len(results)
    targets = [label for _, label, guess in results if guess == "publication"]
    assert targets.count("publication") > 0.9 * len(targets), "few wrong targets: each costs a fetch"


def test_lines_and_comments() -> None:
    text = "# comment\n\nhttp://a.org/x\tone\n  http://a.org/y \t two words \n"
    assert parse_labels(text, "name") == [("http://a.org/x", "one"), ("http://a.org/y", "two words")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("http://a.org/x one\n", "labels.tsv, line 1: write a URL, a tab and its class"),
        ("# fine\nhttp://a.org/x\t\n", "line 2"),
        ("a.org\tone\n", "line 1"),
        ("", "at least two classes"),
        ("http://a.org/x\tone\nhttp://a.org/y\tone\n", "at least two classes"),
    ],
)
def test_bad_lists_are_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "labels.tsv").write_text(text)
    with pytest.raises(BadInput, match=problem):
        read_labels(tmp_path / "labels.tsv")


def test_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_labels(tmp_path / "none.tsv")
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xff\t\xff")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_labels(tmp_path / "bytes.tsv")


def test_training_is_repeatable() -> None:
    first, second = train(built_in()), train(built_in())
    assert first.weights == second.weights
    assert first.bias == second.bias


def test_training_finds_the_maximum_entropy() -> None:
    """At the optimum each feature is expected as often with a class as it was seen, but for the pull of the penalty."""
    labels, strength = built_in(), 0.5
    model = train(labels, strength)
    surplus: Counter[tuple[str, str]] = Counter()
    for url, label in labels:
        for name, probability in model.probabilities(url).items():
            for feature in ["", *url_training.features(url)]:
                surplus[feature, name] += (name == label) - probability
    for (feature, name), found in surplus.items():
        weight = model.weights[feature][model.classes.index(name)] if feature else 0.0
        assert found == pytest.approx(strength * weight, abs=0.02), (feature, name)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_the_slope_is_the_slope(seed: int) -> None:
    """Compared with differences of the loss itself."""
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 4, 5)
    loss = url_training._Loss(chance.integers(0, 6, sizes.sum()), sizes, chance.integers(0, 3, 5), (6, 3), 0.3)
    point = chance.normal(size=21)
    _, slope = loss(point)
    for number in range(21):
        step = np.zeros(21)
        step[number] = 1e-6
        measured = (loss(point + step)[0] - loss(point - step)[0]) / 2e-6
        assert slope[number] == pytest.approx(measured, abs=1e-4)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_the_minimum_of_a_bowl_is_found(seed: int) -> None:
    chance = np.random.default_rng(seed)
    root = chance.normal(size=(8, 8))
    bowl, lowest = root @ root.T + 0.1 * np.eye(8), chance.normal(size=8)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        off = point - lowest
        return float(off @ bowl @ off) / 2, bowl @ off

    value, _ = loss(minimise(loss, np.zeros(8)))
    assert value < 1e-3


def test_a_minimum_stays_where_it_is() -> None:
    assert minimise(lambda point: (float(point @ point), 2 * point), np.zeros(3)).tolist() == [0, 0, 0]
