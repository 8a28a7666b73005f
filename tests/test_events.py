"""Events reach every listener; a slow one misses some, and learns how many."""

import gc

import msgspec

from lycosa.events import Listeners, Missed, StateChange, VisitDone
from lycosa.types import Link, Page, Reply, Verdict, Visit


async def test_each_listener_gets_everything_until_the_end() -> None:
    listeners = Listeners()
    one, two = listeners.listen(), listeners.listen()
    listeners.put(StateChange("crawling", "started"))
    reply = Reply(Link("http://a.example/"), url="http://b.example/", status=200, seconds=0.25)
    listeners.write(Visit(reply, Page(title="B"), Verdict(0.75, True, "sky")))
    listeners.end()
    for listener in (one, two):
        started, visit = [event async for event in listener]
        assert started == StateChange("crawling", "started")
        assert isinstance(visit, VisitDone)
        assert (visit.url, visit.final_url, visit.title) == ("http://a.example/", "http://b.example/", "B")
        assert (visit.relevance, visit.on_topic, visit.label) == (0.75, True, "sky")
        assert msgspec.json.decode(msgspec.json.encode(visit))["event"] == "visit"


async def test_who_listens_after_the_end_hears_nothing() -> None:
    listeners = Listeners()
    listeners.end()
    assert [event async for event in listeners.listen()] == []


async def test_a_slow_listener_loses_the_oldest_and_is_told() -> None:
    listeners = Listeners()
    slow = listeners.listen(most=3)
    for number in range(10):
        listeners.put(StateChange("crawling", str(number)))
    listeners.end()
    missed, *rest = [event async for event in slow]
    assert missed == Missed(7)
    assert [event.why for event in rest if isinstance(event, StateChange)] == ["7", "8", "9"]


def test_a_listener_that_was_given_up_costs_nothing() -> None:
    listeners = Listeners()
    gone = listeners.listen()
    del gone
    gc.collect()
    listeners.put(StateChange("paused"))
    assert not listeners._all
