"""Counts to rules to scores: the published tables, laws that must hold, and files that must be refused."""

import itertools
import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.strategy.link_words import LinkWords
from lycosa.strategy.rule_base import FORMAT, Merge, RuleBase, count, load, save
from lycosa.types import BadInput

CLASSES = ["CH", "DH", "PH", "SP"]  # homepages of courses, departments, persons; sports pages
TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
PUBLISHED = RuleBase(CLASSES, TABLE_1)

names = st.sampled_from("abcdef")
rule_bases = st.dictionaries(names, st.dictionaries(names, st.integers(0, 20), max_size=6), max_size=6).map(
    lambda counts: RuleBase(list("abcdef"), counts)
)


def simple_paths(rules: dict[str, dict[str, float]], source: str, targets: set[str], most: int) -> list[float]:
    """Every path by trying all orders of the other classes: slow, and plainly right. The targets are one class."""
    into = {name: sum(p for other, p in row.items() if other in targets) for name, row in rules.items()}
    if source in targets:
        return [into[source]] if into.get(source) else []
    others = [name for name in rules if name not in targets and name != source]
    found = []
    for length in range(most):
        for between in itertools.permutations(others, length):
            way = [source, *between]
            steps = [rules.get(a, {}).get(b, 0.0) for a, b in itertools.pairwise(way)]
            probability = math.prod(steps) * into.get(way[-1], 0.0)
            if probability:
                found.append(probability)
    return found


def test_counts_become_the_published_rules() -> None:
    assert PUBLISHED.rules() == {
        "DH": {"CH": 0.8, "PH": 0.1, "SP": 0.1},
        "CH": {"DH": 0.2, "CH": 0.4, "PH": 0.4},
        "PH": {"DH": 0.3, "CH": 0.4, "PH": 0.3},
        "SP": {"SP": 1.0},
    }


@pytest.mark.parametrize(
    ("max_depth", "merge", "expected"),
    [
        (1, "sum", {"DH": 0.1, "CH": 0.4, "PH": 0.3}),
        (2, "sum", {"DH": 0.42, "CH": 0.42, "PH": 0.3}),
        (2, "max", {"DH": 0.32, "CH": 0.4, "PH": 0.3}),
        (3, "sum", {"DH": 0.42, "CH": 0.42, "PH": 0.3}),
        (3, "max", {"DH": 0.32, "CH": 0.4, "PH": 0.3}),
    ],
)
def test_scores_by_depth(max_depth: int, merge: Merge, expected: dict[str, float]) -> None:
    """SP is never there: no path leads from it to PH. From PH itself only the loop counts, not the way round (.49)."""
    assert PUBLISHED.scores(["PH"], max_depth, merge) == pytest.approx(expected)


def test_several_targets_are_one_class() -> None:
    rules = RuleBase(
        ["C", "T1", "T2", "X"], {"C": {"T1": 8, "X": 2}, "T1": {"T2": 9, "T1": 1}, "T2": {"T2": 1}, "X": {"T2": 1}}
    )
    assert rules.scores(["T1", "T2"], 1)["C"] == pytest.approx(0.8)  # and not .8 + .8 * .9 through T1
    assert rules.scores(["T1", "T2"], 2)["C"] == pytest.approx(1.0)
    assert rules.scores(["T1", "T2"], 2, "max")["C"] == pytest.approx(0.8)
    assert rules.scores(["T1", "T2"], 2)["T1"] == pytest.approx(1.0)


def test_a_class_without_links_has_no_rules() -> None:
    rules = RuleBase(["A", "B", "T"], {"A": {"T": 1, "B": 1}, "B": {}, "T": {"B": 0}})
    assert rules.rules() == {"A": {"T": 0.5, "B": 0.5}}
    assert rules.scores(["T"], 3) == {"A": 0.5}


def test_a_class_that_loses_its_way_has_no_score_at_all() -> None:
    """A's second way leads back to itself: what is taken off again must not leave a rounding error behind."""
    rules = RuleBase(["A", "B", "C", "T"], {"A": {"B": 1, "C": 2}, "B": {"A": 3, "C": 4}, "C": {"A": 1, "B": 1}})
    assert rules.scores(["T"], 5) == {}


@given(rule_bases)
def test_rows_sum_to_one(rules: RuleBase) -> None:
    for row in rules.rules().values():
        assert sum(row.values()) == pytest.approx(1)
        assert all(probability > 0 for probability in row.values())


@given(rule_bases, st.sets(names, min_size=1, max_size=3), st.integers(1, 5))
def test_the_sum_over_paths_is_a_probability(rules: RuleBase, targets: set[str], max_depth: int) -> None:
    scores = rules.scores(targets, max_depth)
    assert all(0 < score <= 1 + 1e-9 for score in scores.values())


@given(rule_bases, st.sets(names, min_size=1, max_size=3), st.integers(1, 5))
def test_scores_are_what_walking_every_path_gives(rules: RuleBase, targets: set[str], max_depth: int) -> None:
    table = rules.rules()
    expected = {name: simple_paths(table, name, targets, max_depth) for name in table}
    for merge, function in (("sum", sum), ("max", max)):
        wanted = {name: function(found) for name, found in expected.items() if found}
        assert rules.scores(targets, max_depth, merge) == pytest.approx(wanted)  # type: ignore[arg-type]


@given(rule_bases, st.sets(names, min_size=1, max_size=3), st.integers(1, 4))
def test_a_longer_chain_never_makes_a_class_worth_less(rules: RuleBase, targets: set[str], depth: int) -> None:
    near, far = rules.scores(targets, depth), rules.scores(targets, depth + 1)
    assert all(far[name] >= score - 1e-12 for name, score in near.items())


def test_a_page_counts_once_for_each_class_that_links_to_it() -> None:
    links = [
        ("DH", "http://x/1", "CH"),
        ("DH", "http://x/1", "CH"),  # another department's page, the same course
        ("DH", "http://x/2", "PH"),
        ("PH", "http://x/1", "CH"),
    ]
    assert count(CLASSES, links) == RuleBase(CLASSES, {"DH": {"CH": 1, "PH": 1}, "PH": {"CH": 1}})


def test_as_many_rules_as_a_large_directory_gives() -> None:
    """1,282 classes and 60,000 rules; the published base had 4,992."""
    many = [f"class {number}" for number in range(1_282)]
    counts = {
        name: {many[(at * 7 + step * 13) % 1_282]: 1 + step % 5 for step in range(50)} for at, name in enumerate(many)
    }
    scores = RuleBase(many, counts).scores(many[:2], 3)
    assert max(scores.values()) <= 1


# -- the file ---------------------------------------------------------------------------------------------------------


@given(rule_bases)
def test_what_was_saved_is_loaded(rules: RuleBase) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(rules, Path(folder) / "rules.json")
        assert load(Path(folder) / "rules.json") == rules
        assert [file.name for file in Path(folder).iterdir()] == ["rules.json"]


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    save(PUBLISHED, tmp_path / "rules.json")
    found = json.loads((tmp_path / "rules.json").read_text())
    assert found["format"] == FORMAT
    assert found["counts"]["DH"] == {"CH": 8, "PH": 1, "SP": 1}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a file of rules"),
        (b"nonsense", "not a file of rules"),
        (b"[]", "not a file of rules"),
        (b"\xff\xfe", "not a file of rules"),
        (b"[" * 100_000, "not a file of rules"),
        (b'{"format": 1}', "classes"),
        (b'{"classes": []}', "format"),
        (b'{"format": 99, "classes": []}', "newer Lycosa"),
        (b'{"format": 1, "classes": ["A"], "extra": 1}', "extra"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"A": -1}}}', ">= 0"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"A": "x"}}}', "Expected"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"A": NaN}}}', "not a file of rules"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"A": 1e999}}}', "not a file of rules"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"A": 1e300}}}', "<= 1"),
        (b'{"format": 1, "classes": ["A"], "counts": {"A": {"B": 1}}}', "counts: 'B' is not one of the classes"),
        (b'{"format": 1, "classes": ["A"], "counts": {"B": {"A": 1}}}', "counts: 'B' is not one of the classes"),
        (
            b'{"format": 3, "classes": ["A"], "links": {"B": {"bias": 0, "words": {}}}}',
            "links: 'B' is not one",
        ),
        (b'{"format": 3, "classes": ["A"], "links": {"A": {"bias": 0, "words": {"x": 1e9}}}}', "<= 1000"),
        (b'{"format": 3, "classes": ["A"], "links": {"A": {"words": {"x": 1}}}}', "bias"),
        (b'{"format": 3, "classes": ["A"], "words": {"x": {"A": 1}}}', "words"),
        (b'{"format": 1, "classes": ["A"], "counts": {"B": {"A": 1}}}', "'B' is not one of the classes"),
        (b'{"format": 1, "classes": ["A"], "temperature": 0}', "> 0"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "rules.json"
    path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json: cannot be read"):
        load(tmp_path / "none.json")
    with pytest.raises(BadInput, match=r"rules\.json: cannot be written"):
        save(PUBLISHED, tmp_path / "missing" / "rules.json")


# -- words of links ----------------------------------------------------------------------------------------------------


def test_words_survive_a_file_and_files_of_before_have_none(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    rules = RuleBase(["A"], links={"A": LinkWords(-0.5, {"“x”": 1.5})})
    save(rules, path)
    assert load(path) == rules
    for old in ("1", '2, "words": {"“x”": {"A": 3}}, "pages": {"A": 3}'):
        path.write_text(f'{{"format": {old}, "classes": ["A"], "counts": {{"A": {{"A": 1}}}}}}')
        assert load(path) == RuleBase(["A"], {"A": {"A": 1}}, format=int(old[0]))
