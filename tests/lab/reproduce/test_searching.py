"""A crawl in the lab that asks a search engine when it runs dry."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from lycosa import config
from lycosa.lab.answer import Answer
from lycosa.lab.one import LAB, crawl_web
from lycosa.lab.reproduce.searching import NoJudge, Searched, crawl_and_search
from lycosa.strategy.publications import Publications
from lycosa.types import Page

H = "http://www.uni.example"
ISLAND = f"{H}/~far/publications.html"
SCOPE = replace(LAB, scope=config.Scope(domains=["uni.example"]))


class Site:
    """The list of a known person names a paper that a person signed whom no link leads to."""

    def __init__(self) -> None:
        others = [f"/news/{number}.html" for number in range(30)]
        self.pages: Mapping[str, str] = {
            f"{H}/": _links("/~near/", *others),
            f"{H}/~near/": _links("/~near/publications.html"),
            f"{H}/~near/publications.html": "<ul><li>(2004) Hunting Habits of Wolf Spiders, Journal.</li></ul>",
            ISLAND: "<p>Nobody links here.</p>",
            **{f"{H}{path}": f"news {path}" for path in others},
        }

    def get(self, url: str) -> Answer | None:
        return Answer(body=self.pages[url].encode()) if url in self.pages else None


class Engine:
    """Knows one answer, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def open(self) -> None:
        pass

    async def search(self, query: str, site: str, k: int) -> list[str]:
        self.asked.append(query)
        assert site == "uni.example"
        return [ISLAND, "http://elsewhere.example/~x/papers.html"]

    async def close(self) -> None:
        pass


def _links(*paths: str) -> str:
    return "".join(f"<a href='{path}'>x</a>" for path in paths)


def strategy() -> Publications:
    made = Publications()
    made.prepare(Path(), None)
    return made


def searched(engine: Engine, pages: int = 100) -> Searched:
    return crawl_and_search(Site(), [f"{H}/"], strategy(), SCOPE, engine, pages)


def test_the_search_finds_what_no_link_leads_to() -> None:
    found = searched(Engine())
    fetched = [fetch.url for fetch in found.fetches]
    assert ISLAND in fetched
    assert fetched.index(ISLAND) < len(fetched) - 1  # it was asked for while other pages still waited
    assert not [url for url in fetched if "elsewhere" in url]
    plain = crawl_web(Site(), [f"{H}/"], NoJudge(), strategy(), 100, SCOPE)
    assert ISLAND not in [fetch.url for fetch in plain.fetches]


def test_how_often_it_asked_is_told() -> None:
    engine = Engine()
    found = searched(engine)
    assert found.steps >= 1
    assert found.hits >= 1
    assert found.queries == len(engine.asked)
    assert engine.asked[0] == "Hunting Habits"


def test_the_same_crawl_again() -> None:
    assert searched(Engine()) == searched(Engine())


def test_the_limit_holds() -> None:
    assert len(searched(Engine(), 5).pages) == 5


def test_an_error_of_the_engine_is_ours() -> None:
    class Broken(Engine):
        async def search(self, query: str, site: str, k: int) -> list[str]:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        searched(Broken())


def test_nobody_judges() -> None:
    assert not asyncio.run(NoJudge().judge(Page())).on_topic
