"""Figures against scikit-learn's, tables that say it all, and a picture that is one."""

import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn import metrics

from lycosa.output.topic_report import Report, draw, measure, roc_auc, roc_curve, tables
from lycosa.types import BadInput, Verdict

RESULTS = [
    ("cat", Verdict(0.9, True, "cat", {"cat": 0.9, "dog": 0.1})),
    ("cat", Verdict(0.6, True, "cat", {"cat": 0.6, "dog": 0.4})),
    ("cat", Verdict(0.3, False, "dog", {"cat": 0.3, "dog": 0.7})),
    ("dog", Verdict(0.4, False, "dog", {"cat": 0.4, "dog": 0.6})),
    ("dog", Verdict(0.7, True, "cat", {"cat": 0.7, "dog": 0.3})),
    ("bird", Verdict()),
]


def printed(report: Report) -> str:
    console = Console(width=120, record=True, file=StringIO())
    for table in tables(report):
        console.print(table)
    return console.export_text()


SCORES = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=2).filter(
    lambda pairs: len({truth for truth, _ in pairs}) == 2
)


@given(SCORES)
def test_the_area_is_the_usual_one_and_that_under_the_curve(pairs: list[tuple[bool, float]]) -> None:
    truth, scores = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    area = roc_auc(truth, scores)
    assert area == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert area == pytest.approx(np.trapezoid(*reversed(roc_curve(truth, scores))))


def test_a_curve_begins_at_nothing_and_ends_with_everything() -> None:
    across, up = roc_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    assert across.tolist() == [0, 0, 1]
    assert up.tolist() == [0, 0.5, 1]


def test_where_one_side_is_empty_there_is_no_area() -> None:
    assert roc_auc(np.array([True, True]), np.array([0.1, 0.2])) is None
    assert roc_auc(np.zeros(0, bool), np.zeros(0)) is None


def test_figures_by_hand() -> None:
    report = measure(RESULTS, ["cat"])
    assert report.pages == 6
    assert report.target.pages == 3
    assert report.target.precision == pytest.approx(2 / 3)
    assert report.target.recall == pytest.approx(2 / 3)
    assert report.target.f1 == pytest.approx(2 / 3)
    assert report.target.auc == pytest.approx(6 / 9)
    assert [item.label for item in report.classes] == ["cat", "dog"]
    assert report.accuracy == pytest.approx(3 / 6)
    assert report.macro_auc == pytest.approx(np.mean([item.auc or 0 for item in report.classes]))


def test_confusion_has_a_row_for_each_label_and_no_column_for_nothing() -> None:
    report = measure(RESULTS, ["cat"])
    assert report.labels == ["bird", "cat", "dog"]
    assert report.confusion == [[0, 0, 0], [0, 2, 1], [0, 1, 1]]


def test_several_targets_count_together() -> None:
    assert measure(RESULTS, ["cat", "dog"]).target.pages == 5


def test_without_classes_only_the_target_is_measured() -> None:
    report = measure([("yes", Verdict(0.8, True)), ("no", Verdict(0.2))], ["yes"])
    assert report.target.auc == 1.0
    assert report.classes == report.confusion == []
    assert "confusion" not in printed(report)


def test_what_cannot_be_said_is_not_zero() -> None:
    report = measure([("no", Verdict(0.2))], ["yes"])
    assert (report.target.precision, report.target.recall, report.target.auc) == (None, None, None)
    assert " - " in printed(report)


def test_tables_say_it() -> None:
    text = printed(measure(RESULTS, ["cat"]))
    for part in ("precision", "ROC AUC", "0.667", "target", "confusion", "2 cat", "accuracy 0.500"):
        assert part in text


def test_a_label_is_text_not_markup() -> None:
    name = "[red]x[/red][/]"
    report = measure([(name, Verdict(1, True, name, {name: 1.0})), ("b", Verdict(0, False, "b", {"b": 1.0}))], [name])
    assert name in printed(report)


def test_a_large_confusion_is_not_printed() -> None:
    results = [(str(number), Verdict(0.5, False, str(number), {str(number): 1.0})) for number in range(40)]
    report = measure(results, ["0"])
    assert len(report.confusion) == 40
    assert len(tables(report)) == 1


@pytest.mark.parametrize("many", [0, 40])
def test_the_picture_is_a_png(tmp_path: Path, many: int) -> None:
    more = [(str(number), Verdict(0.5, False, str(number), {str(number): 1.0})) for number in range(many)]
    results = RESULTS + more
    draw(measure(results, ["cat"]), results, ["cat"], tmp_path / "t.png")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_classes(tmp_path: Path) -> None:
    results = [("yes", Verdict(0.8, True)), ("no", Verdict(0.2))]
    draw(measure(results, ["yes"]), results, ["yes"], tmp_path / "t.png")
    assert (tmp_path / "t.png").stat().st_size > 1_000


def test_what_a_picture_needs_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = measure(RESULTS, ["cat"])
    with pytest.raises(BadInput, match=r"t\.png: cannot be written"):
        draw(report, RESULTS, ["cat"], tmp_path / "none" / "t.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BadInput, match=r"lycosa\[plots\]"):
        draw(report, RESULTS, ["cat"], tmp_path / "t.png")


@pytest.mark.parametrize("label", [r"$\frac{1}$", "$", "a\x1b\u202eb"])
def test_a_label_is_text_not_a_formula(tmp_path: Path, label: str) -> None:
    results = [
        (label, Verdict(0.8, True, label, {label: 1.0, "no": 0.0})),
        ("no", Verdict(0.2, False, "no", {"no": 1.0})),
    ]
    draw(measure(results, [label]), results, [label], tmp_path / "t.png")
    assert (tmp_path / "t.png").exists()
