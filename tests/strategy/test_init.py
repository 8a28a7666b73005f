"""Names become classes: ours, and those of other installed packages."""

import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from lycosa import strategy
from lycosa.strategy import GROUP, STRATEGIES, strategies


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is installed beside ours: a module, and the metadata with its entry points."""
    (tmp_path / "foreign_spider.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Zigzag:\n"
        "    step: int = 2\n"
        "    def score(self, visit): return [float(self.step)] * len(visit.page.links)\n"
        "    def merge(self, waiting, found): return max(waiting, found)\n"
        "    def learn(self, visit): pass\n"
        "class Plain: pass\n"
        "function = lambda: None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "foreign_spider", raising=False)
    return tmp_path


def offer(folder: Path, *lines: str) -> None:
    info = folder / "foreign_spider-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-spider\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n" + "".join(f"{line}\n" for line in lines))


def test_without_other_packages_ours_are_all() -> None:
    assert strategies() == STRATEGIES
    assert strategies() is not STRATEGIES


def test_an_installed_package_adds_its_strategies(installed: Path) -> None:
    offer(installed, "zigzag = foreign_spider:Zigzag")
    found = strategies()
    assert set(found) == {*STRATEGIES, "zigzag"}
    assert found["zigzag"]().score.__self__.step == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("best-first = foreign_spider:Zigzag", "there is one of this name"),
        ("gone = foreign_spider:Gone", "cannot be loaded: AttributeError"),
        ("missing = no_such_module:Thing", "cannot be loaded: ModuleNotFoundError"),
        ("plain = foreign_spider:Plain", "is no dataclass"),
        ("function = foreign_spider:function", "is no dataclass"),
    ],
)
def test_one_that_cannot_be_used_is_named_and_left_out(
    installed: Path, caplog: pytest.LogCaptureFixture, line: str, problem: str
) -> None:
    offer(installed, line, "zigzag = foreign_spider:Zigzag")
    found = strategies()
    assert set(found) == {*STRATEGIES, "zigzag"}
    assert found["best-first"] is STRATEGIES["best-first"]
    (record,) = caplog.records
    assert problem in record.getMessage()
    assert line.split(" = ")[0] in record.getMessage()


def test_a_module_that_breaks_on_import_does_no_harm(installed: Path, caplog: pytest.LogCaptureFixture) -> None:
    (installed / "broken_spider.py").write_text("raise SystemError('boom')\n")
    offer(installed, "broken = broken_spider:Thing")
    assert strategies() == STRATEGIES
    assert "SystemError: boom" in caplog.text


def test_only_our_group_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Mine:
        pass

    class Point:
        name, value = "mine", "mine:Mine"

        def load(self) -> type:
            return Mine

    def only(*, group: str) -> list[Point]:
        assert group == "lycosa.strategies"
        return [Point()]

    monkeypatch.setattr(strategy, "entry_points", only)
    assert strategies()["mine"] is Mine


def test_names_are_words_joined_by_hyphens() -> None:
    for name in STRATEGIES:
        assert name == name.lower()
        assert all(part.isalpha() for part in name.split("-"))
    assert not [point for point in metadata.entry_points(group=GROUP) if point.name in STRATEGIES]
