"""Is it still the topic? The first relevant pages against the latest."""

import json
from random import Random

import pytest

from lycosa.estimate.drift import BLOCK, EARLY, KEPT, MOST_BLOCKS, Drift, frequent_words
from lycosa.types import Link, Page, Reply, Verdict, Visit

CATS = "jaguar forest prey hunt river paw cub night habitat species amazon spots roar territory diet".split()
CARS = "jaguar engine dealer price sedan leather wheel warranty lease model gearbox torque brake seat".split()
COMMON = "home contact search page news site link photo story reader".split()


def page(topic: list[str], chance: Random) -> Page:
    """Some words of the topic and of the common ones, again and again."""
    return Page(words=chance.choices(topic, k=80) + chance.choices(COMMON, k=20))


def feed(drift: Drift, topic: list[str], pages: int, *, relevance: float = 0.9, hosts: int = 10, seed: int = 0) -> None:
    """Relevant pages of a topic, and after each an irrelevant one."""
    chance = Random(seed)
    for number in range(pages):
        url = f"http://{topic[1]}{number % hosts}.test/{number}"
        drift.write(Visit(Reply(Link(url), url=url), page(topic, chance), Verdict(relevance, True)))
        drift.write(Visit(Reply(Link(url), url=url), page(COMMON, chance), Verdict(0.1, False)))


def test_one_topic_raises_no_alarm() -> None:
    drift = Drift()
    feed(drift, CATS, 1_000)
    assert drift.alarm is None


def test_another_topic_does_with_the_words_that_came_and_went() -> None:
    drift = Drift()
    feed(drift, CATS, 120)
    feed(drift, CARS, 2 * BLOCK * MOST_BLOCKS, relevance=0.7)
    assert drift.alarm
    assert {*drift.alarm.came} <= {*CARS} - {"jaguar"}
    assert {*drift.alarm.went} <= {*CATS} - {"jaguar"}
    assert (drift.alarm.relevance_before, drift.alarm.relevance_now) == (0.9, 0.7)
    assert drift.alarm.short().startswith("drift: now ")
    assert "words that came: " in str(drift.alarm)


def test_the_alarm_ends_when_the_crawl_is_back() -> None:
    drift = Drift()
    feed(drift, CATS, EARLY)
    feed(drift, CARS, BLOCK * MOST_BLOCKS)
    assert drift.alarm
    feed(drift, CATS, BLOCK * MOST_BLOCKS)
    assert drift.alarm is None


def test_new_words_beside_the_old_ones_are_no_drift() -> None:
    drift = Drift()
    feed(drift, CATS, EARLY)
    feed(drift, CATS[:7] + CARS[:7], BLOCK * MOST_BLOCKS)
    assert drift.alarm is None


@pytest.mark.parametrize(("hosts", "relevance", "rings"), [(1, 0.9, False), (1, 0.7, True), (10, 0.9, True)])
def test_the_words_of_one_site_alone_prove_nothing(hosts: int, relevance: float, rings: bool) -> None:
    drift = Drift()
    feed(drift, CATS, EARLY, hosts=hosts)
    feed(drift, CATS[:3] + CARS, BLOCK * MOST_BLOCKS, relevance=relevance, hosts=hosts)
    assert bool(drift.alarm) is rings


def test_even_on_one_site_it_is_drift_when_no_word_is_left() -> None:
    drift = Drift()
    feed(drift, CATS, EARLY, hosts=1)
    feed(drift, CARS, BLOCK * MOST_BLOCKS, hosts=1)
    assert drift.alarm


def test_frequent_words_say_something() -> None:
    found = frequent_words(Page(title="The Jaguar", words=["the"] * 9 + ["jaguar"] * 3 + ["of", "42", "ox"] * 5))
    assert found == ["jaguar"]
    assert len(frequent_words(Page(words=[f"word{number}x" for number in range(500)]))) == KEPT


def test_state_survives_and_is_small() -> None:
    drift, again = Drift(), Drift()
    feed(drift, CATS, 120)
    feed(drift, CARS, 110)
    text = json.dumps(drift.save())
    assert len(text) < 20_000
    again.load(json.loads(text))
    for one in (drift, again):
        feed(one, CARS, 60, seed=1)
    assert again.save() == drift.save()
    assert again.alarm == drift.alarm is not None
