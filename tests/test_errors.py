"""Errors are kinds with fields; whoever caused one is found from its traceback, not from its message."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lycosa import build, config
from lycosa.errors import BadInput, ConfigError, LycosaError, PluginError, StateError, described, raised_by
from lycosa.store.db import CrawlDb


def load(folder: Path, text: str, *overrides: str) -> tuple[config.Config, config.Source]:
    (folder / "crawl.toml").write_text(text)
    return config.load(folder, overrides)


class TestConfigErrors:
    def test_a_wrong_key_carries_file_line_and_key(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as caught:
            load(tmp_path, "[limits]\npages = 'many'\n")
        error = caught.value
        assert (error.file, error.line, error.key, error.option) == (tmp_path / "crawl.toml", 2, "limits.pages", "")
        assert str(error) == f"{tmp_path / 'crawl.toml'}, line 2: limits.pages: {error.problem}"

    def test_what_a_part_of_the_crawl_refuses_gets_its_place_too(self, tmp_path: Path) -> None:
        given = load(tmp_path, '[topic]\nkind = "keywords"\nwords = ["a: b"]\nthreshold = 7.0\n')
        with pytest.raises(ConfigError) as caught:
            build.make_judge(*given)
        assert (caught.value.line, caught.value.key) == (4, "topic.threshold")
        assert caught.value.problem == "7.0 is not between 0 and 1"

    def test_an_override_is_blamed_by_its_option(self, tmp_path: Path) -> None:
        given = load(tmp_path, '[topic]\nkind = "keywords"\nwords = ["a"]\n', "topic.threshold=7")
        with pytest.raises(ConfigError) as caught:
            build.make_judge(*given)
        assert str(caught.value) == "--set topic.threshold: 7.0 is not between 0 and 1"
        assert caught.value.option == "--set"

    @pytest.mark.parametrize(
        ("key", "value", "problem"),
        [
            ("model", "'x.model'", "'x.model' is not one of bm25, tfidf"),
            ("words", "'astronomy'", "expected a list, got text"),
            ("threshold", "'high'", "expected a number, got text"),
            ("adapt", "1", "expected true or false, got a whole number"),
        ],
    )
    def test_types_and_choices_are_said_in_plain_words(
        self, tmp_path: Path, key: str, value: str, problem: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            build.make_judge(*load(tmp_path, f'[topic]\nkind = "keywords"\n{key} = {value}\n'))
        assert (caught.value.line, caught.value.problem) == (3, problem)

    def test_choices_of_the_other_sections_too(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"line 2: run\.order: 'best' is not one of exact, loose"):
            load(tmp_path, "[run]\norder = 'best'\n")

    def test_a_colon_in_a_message_that_names_no_key_is_left_alone(self, tmp_path: Path) -> None:
        _, source = load(tmp_path, "")
        with pytest.raises(BadInput, match=r"^topic map: damaged$"), source.placing():
            raise BadInput("topic map: damaged")


@pytest.mark.parametrize(
    "error",
    [
        BadInput("what"),
        ConfigError("topic.words", "none", Path("crawl.toml"), 3),
        StateError("crawl.db", "damaged"),
        PluginError("judge", "my.module", "KeyError: 'x'", Path("crawl.log")),
    ],
)
def test_every_kind_travels_between_processes_with_its_fields(error: LycosaError) -> None:

    made, arguments = error.__reduce__()
    again = made(*arguments)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert {name: getattr(again, name) for name in error.fields} == {
        name: getattr(error, name) for name in error.fields
    }


def test_a_damaged_database_is_an_error_of_the_state(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StateError) as caught:
        CrawlDb(tmp_path / "crawl.db").open()
    assert caught.value.path == tmp_path / "crawl.db"


class Part:
    def __init__(self, db: CrawlDb | None = None) -> None:
        self.db = db

    def break_down(self) -> None:
        int("x")  # raised in a frame without `self`: the one around it decides

    def write(self) -> None:
        assert self.db
        self.db.execute("SELECT * FROM nowhere")

    def ask(self, other: "Other") -> None:
        other.answer()


class Other:
    def answer(self) -> None:
        raise OSError("no such file")


Other.__module__ = "elsewhere"


class TestWhoRaisedIt:
    def caught(self, call: Any, *arguments: Any) -> Exception:
        with pytest.raises((ValueError, OSError, sqlite3.Error, RuntimeError)) as caught:
            call(*arguments)
        return caught.value

    def test_the_innermost_part_does(self) -> None:
        part, other = Part(), Other()
        parts = {"strategy": part, "judge": other}
        assert raised_by(self.caught(part.break_down), parts) == "strategy"
        assert raised_by(self.caught(part.ask, other), parts) == "judge"

    def test_nobody_else_is_blamed(self) -> None:
        assert raised_by(self.caught(int, "x"), {"judge": Other()}) == ""

    def test_a_failing_database_is_no_bug_of_who_uses_it(self) -> None:
        part = Part(CrawlDb(":memory:").open())
        assert raised_by(self.caught(part.write), {"strategy": part}) == ""


def test_a_description_is_one_short_line() -> None:
    assert described(ValueError("two\nlines")) == "ValueError: two lines"
    assert described(KeyError()) == "KeyError"
    assert len(described(ValueError("x" * 1_000))) == 200
