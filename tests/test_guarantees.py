"""Every test that docs/guarantees.md names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = [line for line in (ROOT / "docs" / "guarantees.md").read_text().splitlines() if line.startswith("| ")]


def named() -> list[tuple[str, str]]:
    """File and test, which may be empty. Without a folder a file is in that of the one before."""
    found, folder = [], Path()
    for row in ROWS:
        for path, names in re.findall(r"`([\w/]*\w+(?:\.py|/))((?:::\w+)*)`", row):
            place = Path(path) if "/" in path else folder / path
            folder = place if path.endswith("/") else place.parent
            found += [(str(place), name) for name in names.split("::")[1:] or [""]]
    return found


def test_there_are_some() -> None:
    assert len(named()) > 40


@pytest.mark.parametrize(("path", "name"), sorted(set(named())))
def test_it_is_there(path: str, name: str) -> None:
    assert (ROOT / path).exists()
    if name:
        assert re.search(rf"(def|class) {name}\b", (ROOT / path).read_text())
