"""URLs become features without their host, and features a class; models are plain files that are checked."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.strategy import url_classes
from lycosa.strategy.url_classes import UrlClasses, features, features_of, load, pieces, save
from lycosa.strategy.url_training import built_in, train
from lycosa.types import BadInput
from lycosa.urls import canonical

SMALL = UrlClasses(["yes", "no"], [0.5, 0.0], {"pubs": (2.0, 0.0), "news": (0.0, 3.0)})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.comp.nus.edu.sg/~kanmy/pubs.html", ["/~kanmy", ".html", "$pubs"]),
        ("http://www.comp.nus.edu.sg/cs/acad_staff.html", ["/cs", ".html", "-acad", "$staff"]),
        ("http://a.org/", ["/.", "./"]),
        ("http://a.org", ["/.", "./"]),
        ("http://a.org/?page=2", ["/.", "./", "=page", "=#1"]),
        ("http://a.org/people/", ["/", "./", "$people", "^people"]),
        ("http://a.org/cs101/Lecture2.PDF", ["/cs101", ".pdf", "-lecture", "$#1"]),
        ("http://a.org/%7Eada/", ["/", "./", "$~", "=~", "=ada", "^~"]),
        ("http://a.org/x/.profile", ["/x", ".", "$profile"]),
    ],
)
def test_pieces_are_what_stands_behind_the_host(url: str, expected: list[str]) -> None:
    assert pieces(url) == expected


def test_folders_and_words_are_shared_by_urls_that_were_never_seen() -> None:
    """What makes new URLs cheap: of a thousand pages of one folder there are few pieces."""
    found = {piece for n in range(1_000) for piece in pieces(f"http://a.org/papers/loan-{'ab'[n % 2]}-{n}.html")}
    assert len(found) < 12


def test_the_host_says_nothing() -> None:
    assert features("http://publications.org/a/b.html") == features("https://x.example:8080/a/b.html")


def test_features_of_a_path() -> None:
    found = features("http://a.org/~ada/papers/list_2006.html")
    assert {"~", "ada", "papers", "list", "#year", "depth=3", "ext=html", "first=~", "above=papers"} <= set(found)
    assert "last=#year" in found
    assert {"^li", "^lis", "ist", "st$"} <= set(found)


def test_numbers_count_by_their_length() -> None:
    assert features("http://a.org/17/x.html") == features("http://a.org/42/x.html")
    assert "#2" in features("http://a.org/17/x.html")
    assert "#6" in features("http://a.org/1234567890/x.html")


def test_an_index_page_is_its_folder() -> None:
    assert features("http://a.org/cs/people/index.html") == features("http://a.org/cs/people/")
    assert features("http://a.org/index.php") == features("http://a.org/")


@pytest.mark.parametrize("path", ["~ada/", "~ada", "~ada/ada.html", "~ada/index.html"])
def test_a_user_in_the_last_place_is_a_tilde(path: str) -> None:
    assert "last=~" in features(f"http://a.org/{path}")


def test_a_user_further_up_is_not() -> None:
    assert "last=~" not in features("http://a.org/~ada/bob.html")


def test_depth() -> None:
    for depth, path in enumerate(["", "a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "a/b/c/d/e/f", "a/b/c/d/e/f/g"]):
        assert f"depth={min(depth, 6)}" in features(f"http://a.org/{path}")
        assert f"depth={min(depth, 6)}" in features(f"http://a.org/{path}/".replace("//", "/").replace(":/", "://"))


def test_a_piece_counts_each_feature_once_and_a_url_all_its_pieces() -> None:
    for piece in pieces("http://a.org/a/a/a/aaaaaa.html?a=a"):
        assert len(features_of(piece)) == len(set(features_of(piece)))
    assert features("http://a.org/a/a/b.html?a=a").count("a") == 3, "the folder, and twice in the query"


@given(st.text(max_size=400))
def test_every_url_has_features_and_a_class(text: str) -> None:
    url = canonical(f"http://a.org/{text}") or "http://a.org/"
    assert any(feature.startswith("depth=") for feature in features(url))
    assert SMALL.class_of(url) in SMALL.classes
    assert sum(SMALL.probabilities(url).values()) == pytest.approx(1.0)


def test_the_largest_sum_decides() -> None:
    assert SMALL.class_of("http://a.org/pubs") == "yes"
    assert SMALL.class_of("http://a.org/news") == "no"
    assert SMALL.class_of("http://a.org/news/pubs") == "no"
    assert SMALL.class_of("http://a.org/elsewhere") == "yes", "the bias alone"
    assert list(SMALL.probabilities("http://a.org/news")) == ["no", "yes"]


def test_what_was_seen_is_forgotten_before_it_grows_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.strategy.url_classes._MOST_CACHED", 10)
    model = UrlClasses(SMALL.classes, SMALL.bias, SMALL.weights)
    for number in range(100):
        assert model.class_of(f"http://a.org/pubs/{number}") == "yes"
        assert len(model._seen) <= 10


@given(st.lists(st.text("ab/.~-?=19", max_size=30), max_size=20))
def test_a_url_is_the_sum_of_its_features_whatever_was_seen_before(paths: list[str]) -> None:
    weights = {
        name: (len(name), -1.0) for name in ("a", "b", "~", "last=a", "first=b", "#1", "^ab", "depth=2", "ext=/")
    }
    model = UrlClasses(["yes", "no"], [0.5, 0.0], weights)
    for path in paths:
        url = f"http://a.org/{path}"
        rows = [weights[name] for name in features(url) if name in weights]
        expected = [0.5 + sum(row[0] for row in rows), sum(row[1] for row in rows)]
        assert model._sums(url) == pytest.approx(expected)


def test_what_pieces_add_is_forgotten_before_it_grows_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_classes, "_MOST_ROWS", 10)
    model = UrlClasses(SMALL.classes, SMALL.bias, SMALL.weights)
    for number in range(100):
        assert model.class_of(f"http://a.org/x{number}/news") == "no"
        assert len(model._rows) <= 10


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "url.model"
    path.write_text('{"kind": "url-classes", "format": 1, "classes": ["a", "b"], "bias": [1, 2], "weights": {}}')
    with pytest.raises(BadInput, match=r"older Lycosa \(format 1\): create it again: lycosa urls train"):
        load(path)


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = train(built_in())
    save(model, tmp_path / "url.model")
    again = load(tmp_path / "url.model")
    for url, _ in built_in():
        assert again.probabilities(url) == model.probabilities(url)
    assert [path.name for path in tmp_path.iterdir()] == ["url.model"], "nothing is left lying about"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "damaged"),
        ("\xff\xfe", "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"kind": "topic"}', "missing required field"),
        ('{"kind": "topic", "format": 1, "classes": [], "bias": [], "weights": {}}', "kind 'topic'"),
        ('{"kind": "url-classes", "format": 99, "classes": [], "bias": [], "weights": {}}', "newer Lycosa"),
        (
            '{"kind": "url-classes", "format": 2, "classes": ["a"], "bias": [1], "weights": {}}',
            "damaged: weights and classes differ in number",
        ),
        (
            '{"kind": "url-classes", "format": 2, "classes": ["a", "b"], "bias": [1], "weights": {}}',
            "damaged: weights and classes differ in number",
        ),
        (
            '{"kind": "url-classes", "format": 2, "classes": ["a", "b"], "bias": [1, 2], "weights": {"x": [1, 2, 3]}}',
            "damaged: weights and classes differ in number",
        ),
        ('{"kind": "url-classes", "format": 2, "classes": ["a", "b"], "bias": [1, NaN], "weights": {}}', "damaged"),
    ],
)
def test_a_strange_model_is_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "url.model"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BadInput, match=problem) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_model_and_a_forbidden_place(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "none.model")
    with pytest.raises(BadInput, match="cannot be written"):
        save(SMALL, tmp_path / "no" / "such" / "folder.model")


def test_a_piece_is_added_up_once_and_a_url_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = train(built_in())
    taken, added = [], []
    pieces_of, features_of = url_classes.pieces, url_classes.features_of
    monkeypatch.setattr(url_classes, "pieces", lambda url: taken.append(url) or pieces_of(url))
    monkeypatch.setattr(url_classes, "features_of", lambda piece: added.append(piece) or features_of(piece))
    fresh = [f"http://a.org/people/group{n % 7}/person{n}/paper-{n}.html" for n in range(2_000)]
    for url in fresh * 2:
        model.class_of(url)
    assert taken == fresh
    assert sorted(added) == sorted({piece for url in fresh for piece in pieces_of(url)})
