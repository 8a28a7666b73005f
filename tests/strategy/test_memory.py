"""What is remembered of pages and links comes back from the notes as it was, whatever the frontier knows of them."""

import random
from collections.abc import Iterable
from typing import Any

import pytest
import xxhash

from lycosa import urls
from lycosa.store.db import CrawlDb
from lycosa.strategy.kept import PageNote
from lycosa.strategy.links import SOURCES
from lycosa.strategy.memory import Candidates, Memory
from lycosa.strategy.sources import Source
from lycosa.types import Link


class Frontier(dict[str, int]):
    """Gives ids as URLs come; some hosts are closed, so that their URLs have none."""

    def number(self, url: str) -> int:
        return self.get(url, 0)

    def numbers(self, urls: Iterable[str]) -> list[int]:
        return [*map(self.number, urls)]

    def push(self, found: list[str]) -> None:
        for url in found:
            if "//closed" not in url:
                self.setdefault(url, len(self) + 1)


def ready(frontier: Frontier) -> Memory:
    memory = Memory()
    memory.links.connect(frontier.numbers)
    return memory


def add_page(memory: Memory, frontier: Frontier, db: CrawlDb, found: list[str], chance: random.Random) -> None:
    """A turn as the strategy does it: find links, let the frontier see them, settle."""
    links, spots, rows, words, told = [], [], [], [], []
    for at, url in enumerate(found):
        row = memory.links.find(url)
        if row and memory.links.counts[row] >= SOURCES:
            told.append(row)
            continue
        links.append(Link(url, depth=2))
        spots.append(at // 5)
        rows.append(row)
        words.append([memory.names[f"/{chance.randrange(30)}"] for _ in range(chance.randrange(5))])
    number = len(memory.sources)
    source = Source(number, chance.random(), chance.choice(["", "course"]), 1, 0.1, 1.0)
    memory.add_page(source, f"http://a/{number}", memory.up)
    columns = {name: [chance.random() for _ in links] for name in ("contexts", "owns", "elsewheres", "values")}
    memory.add_links(source, memory.finds(Candidates(links, spots, rows, words), {**columns}), told)
    frontier.push(found)
    memory.settle(db)


def state(memory: Memory, number: int) -> list[Any]:
    """All that is known of a page and its links."""
    source, links = memory.sources[number], memory.links
    rows = [(links.ids[row] or links.name_of(row), *link(memory, row)) for row in source.kids]
    return [source.relevance, source.label, source.kind, source.waiting, source.state(), rows, up(memory, source)]


def link(memory: Memory, row: int) -> list[Any]:
    links = memory.links
    columns = (links.hosts, links.places, links.areas, links.depths, links.contexts, links.owns, links.values)
    flags = (links.cash, links.best, links.twins, links.turns)
    return [column[row] for column in (*columns, *flags)] + [links.found(row), list(links.words(row))]


def up(memory: Memory, source: Source) -> list[Any]:
    row, links = source.up, memory.links
    return [links.found(row), links.best[row], links.hosts[row], list(links.words(row))] if row else []


@pytest.mark.parametrize("seed", range(5))
def test_everything_comes_back(seed: int) -> None:
    chance, frontier, db = random.Random(seed), Frontier(), CrawlDb(":memory:").open()
    memory = ready(frontier)
    hosts = ["a", "b", "closed"]
    all_urls = [f"http://{chance.choice(hosts)}/{n % 7}/{n}{chance.choice(['', '/', '.html'])}" for n in range(120)]
    for step in range(60):
        waiting = [url for url in all_urls if url in frontier and memory.links.find(url)]
        if waiting and step % 2:
            memory.up, _ = memory.take(chance.choice(waiting), is_page=chance.random() < 0.7)
            if chance.random() < 0.3:
                memory.settle(db)  # a page without links
                continue
        fresh = [url for url in chance.sample(all_urls, 15) if memory.links.find(url) or url not in frontier]
        add_page(memory, frontier, db, fresh, chance)
        if step == 30:
            memory.save(db)
    memory.save(db)
    restored = ready(frontier)
    restored.load_names(db)
    restored.load(db)
    assert restored.names.all == memory.names.all
    assert (restored.done, restored.folders) == (memory.done, memory.folders)
    assert len(restored.sources) == len(memory.sources) > 20
    for number in range(len(memory.sources)):
        assert state(restored, number) == state(memory, number)
    assert len(restored.links) == len(memory.links) > 20


def test_a_page_note_is_small() -> None:
    chance, frontier, db = random.Random(1), Frontier(), CrawlDb(":memory:").open()
    memory = ready(frontier)
    add_page(memory, frontier, db, [f"http://a/docs/some-page-{n}.html" for n in range(100)], chance)
    packed = db.noted("learned page 000000000")
    assert len(packed) < 50 * 100
    assert len(PageNote.unpack(packed).finds().rows) == 100


def test_a_url_made_to_share_the_hash_of_another_does_not_hide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can compute an unkeyed hash, and so make two addresses that share it."""
    monkeypatch.setattr(xxhash, "xxh3_64_intdigest", lambda data: 7)
    chance, frontier, db = random.Random(1), Frontier(), CrawlDb(":memory:").open()
    memory = ready(frontier)
    add_page(memory, frontier, db, ["http://evil/a/", "http://closed/b/"], chance)
    memory.take("http://evil/a/", is_page=True)
    add_page(memory, frontier, db, ["http://good/c/"], chance)
    memory.save(db)
    restored = ready(frontier)
    restored.load_names(db)
    restored.load(db)
    for each in (memory, restored):
        assert urls.key("http://evil/a/") in each.done
        assert urls.key("http://good/c/") not in each.done
        assert not each.links.twins[each.links.find("http://good/c/")]
        assert each.links.find("http://closed/b/")  # whose address is all that is known of it
