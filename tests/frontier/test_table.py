"""The table in memory and the rows in crawl.db tell the same, whatever happens in between."""

from array import array
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config, urls
from lycosa.frontier.batch import Batch, group
from lycosa.frontier.hosts import Host
from lycosa.frontier.priority import rank_of
from lycosa.frontier.scope import Scope
from lycosa.frontier.table import LEASED, UrlTable
from lycosa.frontier.view import FrontierView
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.url_rows import UrlRows
from lycosa.types import Band, Link, Origin

PAGE, ONE, TWO = "http://a.test/", "http://a.test/1", "http://b.test/2"


@pytest.fixture
def db() -> Iterator[CrawlDb]:
    found = CrawlDb(":memory:").open()
    yield found
    found.close()


@pytest.fixture
def table(db: CrawlDb) -> UrlTable:
    return UrlTable(UrlRows(db))


def reloaded(db: CrawlDb) -> UrlTable:
    again = UrlTable(UrlRows(db))
    assert len([*again.load()]) == len(again)
    return again


def test_ids_count_from_one_and_zero_is_unknown(table: UrlTable) -> None:
    assert [table.insert(Link(url), 0, 0.5, WAITING) for url in (PAGE, ONE)] == [1, 2]
    assert (table.number(PAGE), table.number(ONE), table.number(TWO), table.number("")) == (1, 2, 0, 0)
    assert len(table) == 2


def test_a_link_comes_back_as_it_was_found(table: UrlTable) -> None:
    source = table.insert(Link(PAGE, origin=Origin.SEED), 0, 0.0, DONE)
    number = table.insert(Link(ONE, anchor="one", depth=3, origin=Origin.SITEMAP), source, 0.5, WAITING)
    assert table.take(number) == Link(ONE, PAGE, "one", 3, origin=Origin.SITEMAP)
    assert table.take(source) == Link(PAGE, origin=Origin.SEED)
    assert table.host_of(number) == "a.test"


@given(st.lists(st.tuples(st.sampled_from([WAITING, LEASED, DONE]), st.floats(0, 1e6)), max_size=20))
def test_a_restart_finds_the_same_and_queues_what_was_in_flight(rows: list[tuple[int, float]]) -> None:
    db = CrawlDb(":memory:").open()
    table = UrlTable(UrlRows(db))
    for number, (state, score) in enumerate(rows):
        table.insert(Link(f"http://a.test/{number}"), 0, score, state)
    again = reloaded(db)
    assert (again.ids, again.scores, again.bands) == (table.ids, table.scores, table.bands)
    assert [*again.states] == [WAITING if state == LEASED else state for state in table.states]
    db.close()


def test_what_is_finished_stays_finished(db: CrawlDb, table: UrlTable) -> None:
    number = table.insert(Link(ONE), 0, 0.5, LEASED)
    table.finish(number)
    assert (table.states[number], reloaded(db).states[number]) == (DONE, DONE)


def test_scores_are_scaled_in_memory_and_on_disk(db: CrawlDb, table: UrlTable) -> None:
    for url, score in ((ONE, 0.5), (TWO, 8.0)):
        table.insert(Link(url), 0, score, WAITING)
    table.scale(0.25)
    assert [*table.scores] == [0.0, 0.125, 2.0] == [*reloaded(db).scores]


def batch_of(table: UrlTable, source: int, *found: tuple[str, float], band: Band = Band.FOUND) -> Batch:
    batch = Batch(source, band)
    for url, score in found:
        number = table.enter(urls.key(url), score, band, WAITING)
        batch.rows.append((number, url, source, "", 1, score, WAITING, int(band), int(Origin.PAGE)))
        batch.targets.append(number)
    return batch


def test_a_batch_is_written_whole(db: CrawlDb, table: UrlTable) -> None:
    source = table.insert(Link(PAGE), 0, 0.0, DONE)
    table.write(batch_of(table, source, (ONE, 0.5), (TWO, 0.25)))
    changed = Batch(source)
    changed.raised.append((0.75, source, "better", 1, int(Band.FIRST), int(Origin.SEARCH), 2))
    changed.rescored.append((0.125, 3))
    table.write(changed)
    again = reloaded(db)
    assert [*again.scores][2:] == [0.75, 0.125]
    assert [*again.bands][2:] == [Band.FIRST, Band.FOUND]
    assert again.take(2) == Link(ONE, PAGE, "better", 1, origin=Origin.SEARCH)


def test_links_of_pages_make_the_graph_before_and_after_a_restart(db: CrawlDb, table: UrlTable) -> None:
    source = table.insert(Link(PAGE), 0, 0.0, DONE)
    assert table.graph() == (array("I"), array("I"), array("I"))
    table.write(batch_of(table, source, (ONE, 0.5), (TWO, 0.25)))
    graph = table.graph()
    assert graph == (array("I", [1, 1]), array("I", [2, 3]), array("I", [2, 3]))
    assert reloaded(db).graph() == graph
    table.finish(2)
    assert [*table.graph().waiting] == [3]
    assert [*graph.waiting] == [2, 3], "what was handed out does not change"


def test_a_view_shows_the_table_and_the_scope(db: CrawlDb, table: UrlTable) -> None:
    view = FrontierView(table, Scope(config.Scope(domains=["a.test"], max_depth=2)), db)
    source = table.insert(Link(PAGE), 0, 0.0, DONE)
    table.write(batch_of(table, source, (ONE, 0.5), (TWO, 0.25)))
    assert (view.number(ONE), view.number("http://c.test/")) == (2, 0)
    assert [view.waits(number) for number in (1, 2, 3)] == [False, True, True]
    assert view.host(3) == "b.test"
    assert view.found_on(source) == {2: "a.test", 3: "b.test"}
    assert view.found_on(2) == {}
    assert [*view.scores()] == [0.0, 0.0, 0.5, 0.25]
    assert view.graph() == table.graph()
    assert [*view.refusals([Link(ONE, depth=1), Link(TWO, depth=1)])] == [TWO]
    assert [*view.refusals([Link(ONE, depth=3)])] == [ONE]
    assert view.numbers([TWO, ONE]) == [view.number(TWO), view.number(ONE)]
    view.notes.note("x", "kept")
    assert db.noted("x") == "kept"


def test_urls_of_one_host_and_rank_are_queued_as_one_group() -> None:
    one, other, groups = Host(0, "a"), Host(1, "b"), dict[Any, list[int]]()
    batch = Batch(1, Band.FIRST)
    for host, score, number in ((one, 0.5, 1), (other, 0.5, 2), (one, 0.5, 3), (one, 0.25, 4)):
        group(groups, host, batch.rank(score), number)
    half, quarter = rank_of(0.5, Band.FIRST), rank_of(0.25, Band.FIRST)
    assert groups == {(one, half): [1, 3], (other, half): [2], (one, quarter): [4]}
