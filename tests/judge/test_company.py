"""The words that stand on strong pages and on weak ones: counted in a fixed space, saved in a few kilobytes."""

import msgspec
import numpy as np

from lycosa.judge import company, hashed_words
from lycosa.judge.company import PLACES, Company
from lycosa.judge.hashed_words import places_of

STRONG, WEAK = "spinneret web orb silk venom".split(), "budget tax vote party senate".split()


def taught(pages: int = 10) -> Company:
    found = Company(own=["spider"])
    for number in range(pages):
        found.add(places_of([*STRONG, f"one{number}", "page"]), True)
        found.add(places_of([*WEAK, f"two{number}", "page"]), False)
    return found


def of(judge: Company, text: str) -> float | None:
    return judge.of(places_of(text.split()))


def test_it_tells_the_words_of_strong_pages_from_those_of_weak_ones() -> None:
    strong, weak, both = (of(taught(), text) or 0.0 for text in ("silk orb venom", "tax senate", "page silk tax"))
    assert strong > 2
    assert weak < -2
    assert abs(both) < 0.01


def test_it_says_nothing_before_it_has_seen_some_pages_and_of_words_it_does_not_know() -> None:
    assert of(taught(2), "silk orb") is None
    assert of(taught(), "never seen before") is None
    assert of(taught(), "") is None


def test_the_topics_own_words_and_stop_words_do_not_count() -> None:
    assert not len(places_of(["the", "of", "2024"]))
    found = Company(own=["spider"])
    for _ in range(10):
        found.add(places_of(["spiders", "silk"]), True)
        found.add(places_of(["tax"]), False)
    assert of(found, "spider") is None
    assert of(found, "spider silk") == of(found, "silk")


def test_of_a_long_page_a_sample_is_looked_at() -> None:
    long = [f"word{number}" for number in range(100_000)]
    assert len(places_of(long)) <= hashed_words.MOST_WORDS + 1


def test_it_is_saved_in_a_few_kilobytes_and_goes_on() -> None:
    one, other = taught(300), Company(own=["spider"])
    state = msgspec.json.encode(one.save())
    assert len(state) < 20_000
    other.load(msgspec.json.decode(state))
    assert of(other, "silk page tax orb") == of(one, "silk page tax orb")
    other.add(places_of(["silk"]), False)
    one.add(places_of(["silk"]), False)
    assert other.save() == one.save()


def test_the_oldest_half_is_forgotten_before_a_count_overflows() -> None:
    found, places = taught(), np.array([1, 2])
    before = of(found, "silk")
    found.pages, found.counts[1, 1] = [company.MOST_PAGES // 2, company.MOST_PAGES // 2 - 1], 4_001
    found.add(places, True)
    assert sum(found.pages) < company.MOST_PAGES
    assert found.counts[1, 1] == 2_001
    assert found.counts.shape == (2, PLACES)
    assert before is not None
