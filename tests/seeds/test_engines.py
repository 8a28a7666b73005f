"""Engines over HTTP, with all that may go wrong there, and over pages on disk."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.seeds import engines
from lycosa.seeds.engines import EngineFailure, JsonEngine, LocalEngine, Search, make_engine, site_of
from lycosa.types import BadInput, Page

UNREAD = lambda path: iter(())  # noqa: E731


def rules(**options: Any) -> Search:
    return msgspec.convert({"engine": "searxng", **options}, Search)


@pytest.fixture
async def engine(engine_server: Any) -> AsyncIterator[Any]:
    made = make_engine(rules(url=engine_server.url, max_bytes=200_000), "Test/1.0", Path(), UNREAD)
    await made.open()
    yield made
    await made.close()


async def test_searxng_is_asked_and_answers(engine: Any, engine_server: Any) -> None:
    engine_server.pages["spider silk"] = ["http://a.org/1", "http://a.org/2", "http://a.org/1", "http://a.org/3"]
    assert await engine.search("Spider silk", "a.org", 2) == ["http://a.org/1", "http://a.org/2"]
    assert engine_server.asked == ["Spider silk site:a.org"]
    assert engine_server.paths[0].startswith("/search?q=Spider%20silk%20site%3Aa.org&format=json")
    assert engine_server.headers[0]["user-agent"] == "Test/1.0"


async def test_signs_in_a_query_stay_in_the_query(engine: Any, engine_server: Any) -> None:
    query = "a&b=c #d? {site} {query} %41 ü/+"
    await engine.search(query, "", 5)
    assert engine_server.asked == [query]


async def test_nothing_found_is_an_answer(engine: Any) -> None:
    assert await engine.search("unheard of", "", 10) == []


@pytest.mark.parametrize(
    "fault", ["slow", "429", "500", "403", "moved", "garbage", "bytes", "deep", "nothing", "huge", "cut"]
)
async def test_a_failure_is_a_failure_and_the_next_query_works(
    engine: Any, engine_server: Any, faults: dict[str, Any], fault: str
) -> None:
    engine_server.faults.append(faults[fault])
    with pytest.raises(EngineFailure) as caught:
        await engine.search("spider", "", 10)
    assert str(caught.value)
    engine_server.pages[""] = ["http://a.org/"]
    assert await engine.search("spider", "", 10) == ["http://a.org/"]


async def test_the_engine_says_how_long_to_wait(engine: Any, engine_server: Any, answer: Callable[..., Any]) -> None:
    for text, wait_s in (("120", 120.0), ("soon", 0.0), ("9" * 50, 999_999_999.0), ("-5", 0.0)):
        engine_server.faults.append(answer(b"", "429 Too Many Requests", Retry_After=text))
        with pytest.raises(EngineFailure, match="http-429") as caught:
            await engine.search("spider", "", 10)
        assert caught.value.wait_s == wait_s


async def test_nobody_listens() -> None:
    made = make_engine(rules(url="http://127.0.0.1:1", timeout_s=60), "Test/1.0", Path(), UNREAD)
    await made.open()
    with pytest.raises(EngineFailure):
        await made.search("spider", "", 10)
    await made.close()


async def test_any_engine_by_template_and_path(engine_server: Any, answer: Callable[..., Any]) -> None:
    body = b'{"items": [{"link": "http://a.org/1"}, {"link": 5}, {}, {"link": "http://a.org/2"}], "n": 2}'
    engine_server.faults.append(answer(body))
    options = {"engine": "template", "url": engine_server.url + "/v1?q={query}&in={site}&n={k}", "path": "items[].link"}
    made = make_engine(rules(**options, headers={"X-Key": "open sesame"}), "Test/1.0", Path(), UNREAD)
    await made.open()
    assert await made.search("two words", "a.org", 7) == ["http://a.org/1", "http://a.org/2"]
    await made.close()
    assert engine_server.paths == ["/v1?q=two%20words&in=a.org&n=7"]
    assert engine_server.headers[0]["x-key"] == "open sesame"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("results[].url", {"results": [{"url": "a"}, {"url": "b"}]}, ["a", "b"]),
        ("[]", ["a", "b", 3, None], ["a", "b"]),
        ("[].u", [{"u": "a"}, "b"], ["a"]),
        ("web.results[].url", {"web": {"results": [{"url": "a"}]}}, ["a"]),
        ("a[].b[]", {"a": [{"b": ["x", "y"]}, {"b": "z"}, {"b": ["w"]}]}, ["x", "y", "w"]),
        ("url", {"url": "a"}, ["a"]),
        ("url", [], []),
        ("results[].url", {"results": {"url": "a"}}, []),
        ("results[].url", None, []),
    ],
)
def test_paths_into_an_answer(path: str, value: Any, expected: list[str]) -> None:
    assert list(engines._at(value, path)) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.sampled_from(["results[].url", "[]", "a.b[].c", "[].x.y"]))
def test_any_answer_gives_strings_or_nothing(value: Any, path: str) -> None:
    assert all(isinstance(found, str) for found in engines._at(value, path))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"engine": "searxng"}, "search.url: '' is not a web address"),
        ({"engine": "searxng", "url": "ftp://a.org"}, "search.url"),
        ({"engine": "template", "url": "http://a.org/?q=x"}, r"write \{query\}"),
        ({"engine": "template", "url": "http://a.org/?q={query}", "path": "a..b"}, "search.path"),
        ({"engine": "template", "url": "http://a.org/?q={query}", "path": ""}, "search.path"),
        ({"engine": "local"}, "search.pages"),
    ],
)
def test_bad_options_are_one_clear_line(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        make_engine(rules(**options), "Test/1.0", Path(), UNREAD)


@pytest.mark.parametrize(
    "options",
    [{"engine": 7}, {"alpha": 0}, {"results": 1_000}, {"per_day": -1}, {"uri": "x"}, {"timeout_s": -1.0}],
)
def test_the_section_is_checked(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        rules(**options)


@pytest.mark.parametrize(
    ("site", "domains", "hosts", "expected"),
    [
        ("", ["a.org"], [], "a.org"),
        ("", [], ["www.a.org:8080"], "www.a.org"),
        ("", ["a.org", "b.org"], [], ""),
        ("", [], [], ""),
        ("c.org", ["a.org", "b.org"], [], "c.org"),
    ],
)
def test_where_to_search(site: str, domains: list[str], hosts: list[str], expected: str) -> None:
    assert site_of(rules(site=site), domains, hosts) == expected


PAGES = [
    ("http://cs.a.org/pubs.html", Page(title="Publications", text="Soft pattern matching models. Spider silk.")),
    ("http://cs.a.org/news.html", Page(title="News", text="A new spider web was found near the models.")),
    ("http://b.org/pattern.html", Page(title="Patterns", text="Pattern matching with soft models and more matching.")),
    ("http://nota.org/x.html", Page(title="Spiders", text="The spiders are matched.")),
]


@pytest.fixture
async def local() -> AsyncIterator[LocalEngine]:
    pytest.importorskip("tantivy")
    made = LocalEngine(Path("pages"), lambda path: iter(PAGES if path == Path("pages") else []))
    await made.open()
    yield made
    await made.close()


async def test_local_pages_are_found_by_all_their_words(local: LocalEngine) -> None:
    assert set(await local.search("soft pattern matching", "", 10)) == {PAGES[0][0], PAGES[2][0]}
    assert await local.search("soft pattern zebra", "", 10) == []
    assert len(await local.search("models", "", 2)) == 2


async def test_words_are_stemmed(local: LocalEngine) -> None:
    assert PAGES[3][0] in await local.search("Spider", "", 10)


async def test_only_inside_the_site(local: LocalEngine) -> None:
    assert await local.search("soft pattern matching", "a.org", 10) == [PAGES[0][0]]
    assert set(await local.search("spider", "a.org", 10)) == {PAGES[0][0], PAGES[1][0]}, "nota.org is another"
    assert await local.search("spider", "cs.a.org", 1) != []
    assert await local.search("spider", "c.org", 10) == []


@pytest.mark.parametrize(
    "query", ["", "???", '"soft', "title:x AND (", "+-*", "a" * 500, "AND OR NOT", "[a TO b]", "soft IN [x]"]
)
async def test_any_query_is_just_words(local: LocalEngine, query: str) -> None:
    assert isinstance(await local.search(query, "a.org", 10), list)


async def test_without_tantivy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tantivy", None)
    with pytest.raises(BadInput, match=r"lycosa\[search\]"):
        await LocalEngine(Path("pages"), UNREAD).open()


def test_the_address_of_a_template() -> None:
    made = JsonEngine("http://a.org/{k}/{query}/{other}", "[]", rules(url="http://a.org"), "Test/1.0")
    assert made.address("x y", "", 3) == "http://a.org/3/x%20y/{other}"
    assert made.address("x", "b.org", 3) == "http://a.org/3/x%20site%3Ab.org/{other}"
