"""crawl.toml: strict, and whatever is wrong names its place."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.config import Config, Fetch, load
from lycosa.types import BadInput

TOML = """\
seeds = ["http://example.org/"]

[topic]
kind = "keywords"
words = ["a"]

[fetch]
delay_s = 2        # whole numbers are numbers
"""


def write(folder: Path, text: str = TOML) -> Path:
    (folder / "crawl.toml").write_text(text)
    return folder


def test_what_is_not_said_has_its_default(tmp_path: Path) -> None:
    settings, source = load(write(tmp_path))
    assert settings.fetch.delay_s == 2.0
    assert settings.fetch.concurrency == Fetch().concurrency
    assert settings.scope == Config().scope
    assert settings.topic == {"kind": "keywords", "words": ["a"]}
    assert source.path == tmp_path / "crawl.toml"


def test_the_file_itself_may_be_named(tmp_path: Path) -> None:
    assert load(write(tmp_path) / "crawl.toml")[0] == load(tmp_path)[0]


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("fetch.delay_s=0.5", 0.5),
        ("fetch.delay_s = 3", 3.0),
        ("fetch.proxy=http://localhost:3128", "http://localhost:3128"),
        ('fetch.user_agent="Me/1 (+http://me)"', "Me/1 (+http://me)"),
        ("fetch.allow_private=true", True),
        ("fetch.content_types=['text/html']", ["text/html"]),
    ],
)
def test_any_key_may_be_set_for_one_run(tmp_path: Path, override: str, value: object) -> None:
    settings, _ = load(write(tmp_path), [override])
    assert getattr(settings.fetch, override.split("=")[0].strip().removeprefix("fetch.")) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TOML.replace("delay_s", "delay"), "line 8: fetch.delay: unknown key"),
        (TOML.replace("delay_s = 2", "delay_s = -2"), "line 8: fetch.delay_s: expected a number >= 0.0"),
        (TOML.replace("delay_s = 2", "'delay_s' = 'x'"), "line 8: fetch.delay_s: expected a number, got text"),
        (TOML + "scope.domains = 3\n", "scope"),
        (
            "fetch.delay_s = 'x'\n" + TOML.replace("[fetch]\ndelay_s = 2", "[limits]\npages = 2"),
            "line 1: fetch.delay_s",
        ),
        ("seeds = 3\n", "line 1: seeds: expected"),
        ("seeds = [1]\n", "line 1: seeds: expected"),
        ('\nseeds = "http://a.example/"', "line 2: seeds: 'http://a.example/' is a URL, but text alone names a file"),
        ("seeds = 'http://a.example/'", 'write seeds = ["http://a.example/"]'),
        ("[[fetch]]\n", "line 1: fetch: expected a table, got a list"),
        ("fetch = 3\n", "line 1: fetch: expected a table, got a whole number"),
        ("seeds = [\n", "not valid TOML"),
        ('[fetch]\nuser_agent = "a\\r\\nX: y"\n', "line 2: fetch.user_agent"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(write(tmp_path, text))
    assert words in str(caught.value)
    assert str(tmp_path / "crawl.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("scope.domains=uic.edu", """--set scope.domains: this is a list: write --set 'scope.domains=["uic.edu"]'"""),
        ("scope.domains=a.edu, b.edu", """write --set 'scope.domains=["a.edu", "b.edu"]'"""),
        ("scope.domains=[a.edu]", """write --set 'scope.domains=["a.edu"]'"""),
        ("scope.domains=", """write --set 'scope.domains=[]'"""),
        ("fetch.delay_s=x", "--set fetch.delay_s: expected a number, got text"),
        ("seeds=http://a.example/", "--set seeds: 'http://a.example/' is a URL"),
    ],
)
def test_what_is_wrong_with_an_override_says_how_to_write_it(tmp_path: Path, override: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(write(tmp_path), [override])
    assert words in str(caught.value)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no crawl\.toml here \(lycosa new"):
        load(tmp_path)
    (tmp_path / "crawl.toml").mkdir()
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "other.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "other.toml")


@given(st.text(max_size=200))
def test_no_text_makes_it_fail_in_another_way(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("config") / "crawl.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with contextlib.suppress(BadInput):  # anything else fails the test
        load(path)


@given(st.text(max_size=60))
def test_no_override_makes_it_fail_in_another_way(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("config")
    write(folder)
    with contextlib.suppress(BadInput):
        load(folder, [text])
