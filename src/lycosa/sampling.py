"""Try a topic before a crawl: some sample pages, from the Web or from an earlier crawl, judged as a crawl would."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lycosa import config, topics
from lycosa.api.folder import CrawlFolder
from lycosa.api.stored import page as stored_page
from lycosa.api.written import document
from lycosa.errors import BadInput
from lycosa.pages import read_pages
from lycosa.seeds.engines import EngineFailure, Search, make_engine
from lycosa.store.db import CrawlDb
from lycosa.store.visited import page_addresses
from lycosa.types import Page, Verdict

COUNT = 20
_SECONDS = 30  # for fetching them
_ANY_TOPIC = {"kind": "keywords", "words": ["page"]}  # the samples are judged later, as often as the topic changes


class Sample(NamedTuple):
    url: str
    page: Page


class Judged(NamedTuple):
    url: str
    title: str
    verdict: Verdict


def from_crawl(folder: Path, count: int = COUNT) -> list[Sample]:
    """Pages of an earlier crawl, at equal steps over its whole length."""
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        urls = page_addresses(db)
    step = max(1, len(urls) // count)
    found = []
    for url in urls[::step][:count]:
        try:
            found.append(Sample(url, stored_page(folder, url)))
        except BadInput:
            continue  # there is no stored copy
    return found


def from_web(folder: Path, seeds: Sequence[str], fetch: Mapping[str, Any], count: int = COUNT) -> Iterator[Sample]:
    """Fetch the first pages from the seeds, as politely as a crawl, in a new folder. Half are the nearest, the others
    one link away."""
    made = CrawlFolder.new(
        folder,
        seeds,
        _ANY_TOPIC,
        strategy={"kind": "breadth-first"},
        fetch=fetch,
        limits={"pages": count, "seconds": _SECONDS},
        store={"warc": False},
    )
    for visit in made.follow():
        if visit.is_page:
            yield Sample(visit.reply.url or visit.reply.link.url, visit.page)


def bodies(urls: Sequence[str], fetch: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Fetch exactly these pages, and nothing they link to."""
    with TemporaryDirectory(prefix="lycosa-examples-") as folder:
        made = CrawlFolder.new(
            Path(folder) / "crawl",
            urls,
            _ANY_TOPIC,
            strategy={"kind": "breadth-first"},
            scope={"max_depth": 0},
            fetch=fetch,
            limits={"pages": len(urls), "seconds": _SECONDS},
            store={"warc": False},
        )
        for visit in made.follow():
            if visit.is_page:
                yield visit.reply.url or visit.reply.link.url, visit.reply.body


def judge(topic: Mapping[str, Any], folder: Path, samples: Sequence[Sample]) -> list[Judged]:
    """Verdicts on the samples, as at the end of a crawl of these pages; paths in the topic are relative to `folder`."""
    source = config.Source(folder / config.NAME, document({"topic": topic}))
    with source.placing():
        found = topics.make(config.Config(topic=dict(topic)), source)
        topics.prepare(found, read_pages)
    verdicts = asyncio.run(topics.judge_labelled(found, [("", one.page) for one in samples]))
    pairs = zip(samples, verdicts, strict=True)
    return [Judged(one.url, one.page.title, verdict) for one, (_, verdict) in pairs]


def propose_seeds(rules: Search, query: str, user_agent: str) -> list[str]:
    """Addresses that a search engine names for a query."""
    if not query.strip():
        raise BadInput("say first what to look for: the queries for the search engine are made from that")

    async def ask() -> list[str]:
        engine = make_engine(rules, user_agent, Path(), read_pages)
        await engine.open()
        try:
            return await engine.search(" ".join(query.split())[:200], rules.site, rules.results)
        finally:
            await engine.close()

    try:
        return asyncio.run(ask())
    except EngineFailure as error:
        raise BadInput(f"the search engine did not answer: {error}") from None
