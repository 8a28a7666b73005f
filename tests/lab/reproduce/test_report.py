"""A report that somebody can read who has not read the document."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from lycosa.lab.reproduce.effects import Effect, cannot, is_true
from lycosa.lab.reproduce.pictures import Line, Panel, Picture
from lycosa.lab.reproduce.report import (
    CURVES,
    PAGE,
    RESULTS,
    TIMINGS,
    Report,
    Table,
    flow,
    page,
    summary,
    verdicts,
    write,
)
from lycosa.types import BadInput

EFFECTS: list[Effect] = [
    is_true("Spiders | hunt.", "one was seen", "two were", True),
    is_true("Webs hold.", "none broke", "one did", False),
    cannot("It is dark.", "nobody looked"),
]
REPORT = Report(
    name="spiders",
    title="Do spiders hunt?",
    source="A document, 1999",
    claims="They\n   do.\n\nAlways.",
    protocol="By looking.",
    ours="We looked\n too.",
    effects=EFFECTS,
    tables=[Table("Legs", ["spider", "published", "ours"], [["wolf", "8", "8"]], "All\nof them.")],
    pictures=[Picture("legs", "Legs", [Panel("legs", "spider", "legs", [Line("wolf", [1, 2], [8, 8])])], "Eight.")],
    caveats=["It was\n   night."],
    data={"legs": [8.00000001, 1 / 3], "nested": {"b": 1, "a": (2,)}},
)


def test_a_page_has_all_its_parts_in_order() -> None:
    text = page(REPORT)
    parts = ["# Do spiders hunt?", "## What the paper claims", "They do.\n\nAlways.", "## How it measured"]
    parts += ["## What we did", "We looked too.", "## Results", "![Legs](legs.png)", "Eight.", "### Legs"]
    parts += ["| wolf | 8 | 8 |", "All of them.", "## Caveats", "- It was night."]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_verdicts_are_told_in_a_table() -> None:
    text = verdicts(EFFECTS)
    assert "| Spiders \\| hunt. | one was seen | two were | as claimed | **reproduced** |" in text
    assert "| one did | the opposite | **not reproduced** |" in text
    assert text.splitlines()[0].endswith("| direction | verdict |")
    assert text.count("**not reproduced**") == text.count("**cannot be shown here**") == 1


def test_a_summary_counts() -> None:
    text = summary([REPORT, replace(REPORT, name="webs")])
    assert "6 claims: 2 reproduced, 2 not reproduced, 2 cannot be shown here." in text
    assert "- [webs](webs/report.md): Do spiders hunt? *A document, 1999*" in text


@pytest.mark.parametrize("text", [page(REPORT), summary([REPORT])])
def test_words_and_signs_are_explained_to_those_who_know_nothing(text: str) -> None:
    for word in ("n tasks", "(±)", "p, the probability", "*Direction*", "*verdict*", "*ratio*", "*rate*", "*recall*"):
        assert word in text


def test_what_is_written(tmp_path: Path) -> None:
    write(REPORT, {"seconds": 1.5}, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == [CURVES, "legs.png", "legs.svg", PAGE, RESULTS, TIMINGS]
    found = json.loads((folder / RESULTS).read_text())
    assert found["legs"] == [8.0, 0.333333]
    assert found["effects"][0]["outcome"] == "reproduced"
    assert "seconds" not in found
    assert json.loads((folder / TIMINGS).read_text()) == {"seconds": 1.5}


def test_the_same_results_byte_for_byte(tmp_path: Path) -> None:
    write(REPORT, {"seconds": 1.0}, tmp_path / "a")
    write(replace(REPORT, data={"nested": {"a": (2,), "b": 1}, "legs": [8.0, 1 / 3]}), {}, tmp_path / "b")
    assert (tmp_path / "a" / RESULTS).read_bytes() == (tmp_path / "b" / RESULTS).read_bytes()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="file"):
        write(REPORT, {}, tmp_path / "file")


def test_text_flows_whatever_its_lines() -> None:
    assert flow("\n a\n  b\n\n c\n") == "a b\n\nc"
    assert flow("") == ""
