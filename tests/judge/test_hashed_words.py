"""Words as places: stems share one, a page is hashed once, and a long one is sampled."""

import pytest

from lycosa.judge import hashed_words
from lycosa.judge.hashed_words import MOST_WORDS, PLACES, hashed, place_of, places_of


def test_forms_of_a_word_share_a_place_and_empty_words_have_none() -> None:
    assert place_of("spiders") == place_of("spider") == hashed("spider")
    assert 0 <= place_of("spider") < PLACES
    assert place_of("the") == -1


def test_places_are_in_the_order_of_the_text_and_each_is_there_once() -> None:
    found = places_of(["wolf", "spiders", "the", "spider", "silk"]).tolist()
    assert found == [place_of("wolf"), place_of("spider"), place_of("silk")]
    assert places_of([]).tolist() == []


def test_a_page_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["wolf", "spider"]
    first = places_of(words)
    monkeypatch.setattr(hashed_words, "place_of", None)
    assert places_of(words) is first


def test_a_long_page_is_sampled() -> None:
    assert len(places_of([f"word{number}" for number in range(10 * MOST_WORDS)])) <= MOST_WORDS
