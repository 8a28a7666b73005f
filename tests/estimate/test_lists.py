"""When the crawl last came upon a page that brought many relevant pages."""

import json

from lycosa.estimate.lists import _MOST_SOURCES, MANY, Lists


def test_a_page_that_brought_many_relevant_ones_is_a_list_once() -> None:
    lists = Lists()
    for pages in range(1, MANY):
        lists.add("http://a.test/", pages)
    assert lists.last_at == 0
    lists.add("http://a.test/", 40)
    assert lists.last_at == 40
    for pages in range(41, 60):
        lists.add("http://a.test/", pages)
    assert lists.last_at == 40


def test_memory_is_bounded_and_keeps_what_is_useful() -> None:
    lists = Lists()
    for number in range(10 * _MOST_SOURCES):
        lists.add(f"http://a.test/{number}", number)
        lists.add("http://often.test/", number)
    assert len(lists.save()["counts"]) == _MOST_SOURCES
    assert lists.last_at == MANY - 1


def test_state_survives() -> None:
    lists, again = Lists(), Lists()
    for _ in range(MANY - 1):
        lists.add("http://a.test/", 1)
    again.load(json.loads(json.dumps(lists.save())))
    again.add("http://a.test/", 9)
    assert again.last_at == 9
