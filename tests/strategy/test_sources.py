"""Pages whose links wait: what those that were tried brought, and which are explored next."""

from array import array
from math import log

import msgspec
import pytest

from lycosa.strategy.sources import Levels, Source

PLACE, OTHER = 7, 8


def make(number: int = 0) -> Source:
    return Source(number, 0.5, "", 0, 0.1, 1.0)


def test_what_changes_on_a_page_survives() -> None:
    source, same = make(), make()
    source.count(PLACE, 4, 1.0, 1.0)
    source.given = 0.3
    same.load(msgspec.msgpack.decode(msgspec.msgpack.encode(source.state())))
    assert same.state() == source.state()


def test_pages_of_which_nothing_was_counted_share_nothing_that_is_written_to() -> None:
    one, other = make(), make()
    one.count(PLACE, 4, 1.0, 1.0)
    assert (other.tally, other.places, other.spots) == (None, {}, {})
    assert make().places == {}


def test_what_stands_near_a_success_is_better_than_what_stands_far_away() -> None:
    source = make()
    source.count(PLACE, 4, 1.0, 1.0)
    source.count(PLACE, 9, 0.0, 1.0)
    near = [source.near(spot, 0.1) for spot in (4, 5, 7, 9)]
    assert near[0] > near[1] > near[2] == 0.0 > near[3]
    assert source.near(4, 0.1) == pytest.approx(log(2 / 1.1))
    assert source.near(3, 0.1) == pytest.approx(log(1.5 / 1.05))
    assert source.tally
    assert (source.tally.good, source.tally.tried, source.places[PLACE].tried) == (1.0, 2.0, 2.0)


def test_links_that_wait_are_counted_by_the_kind_of_address() -> None:
    source = make()
    for row, place in ((1, PLACE), (2, OTHER), (3, PLACE)):
        source.add(row, place)
    source.remove(1, PLACE)
    assert (list(source.kids), source.waiting) == ([2, 3], {PLACE: 1, OTHER: 1})
    source.remove(3, PLACE)
    assert (list(source.kids), source.waiting) == ([2], {OTHER: 1})


def test_the_page_nearest_to_the_root_then_to_the_seed_has_its_turn_first_and_each_link_once() -> None:
    a, b, c, twin, far = 1, 2, 3, 4, 5
    turns, twins = array("B", bytes(6)), array("B", bytes(6))
    twins[twin] = 1
    levels = Levels()
    for number, (level, clicks, rows) in enumerate(((2, 0, [c]), (1, 3, [far]), (1, 2, [b, twin]), (1, 2, [a]))):
        source = make(number)
        source.level = level
        for row in rows:
            source.add(row, PLACE)
        levels.add(source, clicks)
    assert [levels.turn(turns, twins) for _ in range(6)] == [b, a, far, c, 0, 0]
