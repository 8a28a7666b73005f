"""Names become classes: ours, and those of other installed packages, each named when it cannot be used."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from lycosa import build, config, plugins
from lycosa.cli.errors import exit_code, explain
from lycosa.judge import JUDGES
from lycosa.plugins import JUDGE, KINDS, STRATEGY, BrokenPlugin, Plugins
from lycosa.strategy import STRATEGIES

Install = Callable[[str, str, dict[str, dict[str, str]]], Path]
SPIDER = """
from dataclasses import dataclass
@dataclass
class Zigzag:
    step: int = 2
    def score(self, visit): return [float(self.step)] * len(visit.page.links)
    def merge(self, waiting, found): return max(waiting, found)
    def learn(self, visit): pass
@dataclass
class NoMerge:
    def score(self, visit): return []
    def learn(self, visit): pass
@dataclass
class Odd:
    what: list | tuple = ()
    score = merge = learn = print
class Plain:
    score = merge = learn = print
function = lambda: None
"""


def offer(install: Install, **names: str) -> Plugins:
    install(
        "foreign_spider", SPIDER, {STRATEGY.group: {name.replace("_", "-"): value for name, value in names.items()}}
    )
    return build.strategies()


def test_an_installed_package_adds_its_strategies(install: Install) -> None:
    found = offer(install, zigzag="foreign_spider:Zigzag")
    assert {*STRATEGIES, "zigzag"} <= set(found)
    assert len(found) == len(set(found))
    assert found["zigzag"]().step == 2
    with pytest.raises(KeyError):
        found["nobody"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("foreign_spider:Gone", "cannot be loaded: AttributeError"),
        ("no_such_module:Thing", "cannot be loaded: ModuleNotFoundError"),
        ("foreign_spider:Plain", "not a dataclass"),
        ("foreign_spider:function", "not a class"),
        ("foreign_spider:NoMerge", "has no method 'merge'"),
        ("foreign_spider:Odd", "cannot be made from crawl.toml"),
    ],
)
def test_one_that_cannot_be_used_is_one_line_and_harms_nobody_else(install: Install, value: str, problem: str) -> None:
    found = offer(install, broken=value, zigzag="foreign_spider:Zigzag")
    source = config.Source(Path("crawl.toml"), "")
    assert build.make("strategy", found, {"kind": "zigzag", "step": 3}, source).step == 3
    assert build.make("strategy", found, {"kind": "best-first"}, source)
    with pytest.raises(BrokenPlugin, match=problem) as caught:
        build.make("strategy", found, {"kind": "broken"}, source)
    (line,) = str(caught.value).splitlines()
    assert "package foreign-spider" in line
    assert f"lycosa.strategies: {value}" in line
    assert (caught.value.package, caught.value.name) == ("foreign-spider", "broken")


def test_a_module_may_do_anything_when_it_is_imported(install: Install) -> None:
    install("exits", "raise SystemExit(3)", {STRATEGY.group: {"exits": "exits:Thing"}})
    install("chatty", "raise ValueError('two\\nlines')", {STRATEGY.group: {"chatty": "chatty:Thing"}})
    with pytest.raises(BrokenPlugin, match="SystemExit: 3"):
        build.strategies()["exits"]
    with pytest.raises(BrokenPlugin, match="ValueError: two lines"):
        build.strategies()["chatty"]


def test_ours_cannot_be_replaced_and_the_first_package_wins(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    offer(install, best_first="foreign_spider:Zigzag", twice="foreign_spider:Zigzag")
    install("later_spider", SPIDER, {STRATEGY.group: {"twice": "later_spider:Zigzag"}})
    with caplog.at_level(logging.WARNING):
        found = build.strategies()
        assert found["best-first"] is STRATEGIES["best-first"]
        assert found["twice"].__module__ == "foreign_spider"
    assert "'best-first' of package foreign-spider" in caplog.text
    assert "'twice' of package later-spider" in caplog.text


def test_nothing_is_imported_before_it_is_asked_for(install: Install) -> None:
    install("bomb", "raise SystemError('boom')", {kind.group: {"bomb": "bomb:Thing"} for kind in KINDS[:2]})
    assert "bomb" in build.strategies()
    assert "bomb" in build.judges()
    assert set(build.judges()) >= {*JUDGES, "bomb"}
    assert build.strategies()["best-first"]


def test_a_message_travels_between_processes(install: Install) -> None:
    offer(install, broken="foreign_spider:Gone")
    with pytest.raises(BrokenPlugin) as caught:
        build.strategies()["broken"]
    kind, arguments = caught.value.__reduce__()
    assert str(kind(*arguments)) == str(caught.value)


def test_only_a_plug_in_is_blamed() -> None:
    with pytest.raises(ZeroDivisionError), build.strategies().blaming("best-first"):
        raise ZeroDivisionError


def test_names_are_words_joined_by_hyphens() -> None:
    for name in [*STRATEGIES, *JUDGES]:
        assert name == name.lower()
        assert all(part.isalpha() for part in name.split("-"))


def test_every_kind_of_plug_in_asks_for_three_methods_at_most() -> None:
    assert {kind.group for kind in KINDS} == {
        f"lycosa.{name}" for name in ("judges", "strategies", "parsers", "sinks", "engines", "fetchers")
    }
    assert all(1 <= len(kind.methods) <= 3 for kind in plugins.KINDS)


def test_a_plug_in_that_breaks_outside_a_crawl_is_named(install: Install) -> None:
    """Commands such as `topic try` use judges too; no database is blamed for their bugs."""
    code = "from dataclasses import dataclass\n@dataclass\nclass Oops:\n    def judge(self, page): return {}['here']\n"
    install("oops_judge", code, {JUDGE.group: {"oops": "oops_judge:Oops"}})
    judge = build.judges()["oops"]()
    with pytest.raises(KeyError) as caught:
        judge.judge(None)
    found = plugins.blamed(caught.value)
    assert found
    assert (found.part, found.module, found.problem) == ("judge", "oops_judge", "KeyError: 'here'")
    assert exit_code(caught.value, []) == 70
    line = explain(caught.value, [])
    assert line == "a bug in the judge oops_judge: KeyError: 'here' (LYCOSA_TRACEBACK=1 shows where)"


def test_nobody_is_blamed_for_our_own_bugs(install: Install) -> None:
    install("bystander", SPIDER, {STRATEGY.group: {"zigzag": "bystander:Zigzag"}})
    with pytest.raises(KeyError) as caught:
        build.strategies()["nobody"]
    assert plugins.blamed(caught.value) is None
