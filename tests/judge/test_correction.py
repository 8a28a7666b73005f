"""What labels teach besides words: the form of an address."""

import numpy as np
import pytest

from lycosa.judge.corrected import Stored, _read
from lycosa.judge.correction import DEPTHS, ENDS, PLACES, SIZE, Correction, fit, form
from lycosa.types import Verdict

HOMES = [f"http://a.example/people/{name}/" for name in "abcdefghijkl"]
OTHERS = [f"http://a.example/people/{name}/papers/{name}.html" for name in "abcdefghijkl"]
UNSURE = Verdict(0.45, False)


def test_pages_that_differ_only_in_their_address_can_be_told_apart() -> None:
    words, rarity = np.arange(40, dtype=np.uint16), np.ones(PLACES, np.float32)
    urls, labels = [*HOMES[:4], *OTHERS[:4]], [True] * 4 + [False] * 4
    found = fit(urls, [UNSURE] * 8, [words] * 8, labels, rarity)
    assert all(found.of(url, UNSURE, words)[1] for url in HOMES[4:])
    assert not any(found.of(url, UNSURE, words)[1] for url in OTHERS[4:])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/x/", "http://b.example/y/"),
        ("http://a.example/x.html", "http://a.example/y.html?q=1/2/3.pdf#z"),
        ("http://a.example", "http://a.example/"),
    ],
)
def test_addresses_of_the_same_form(one: str, other: str) -> None:
    assert form(one) == form(other)


@pytest.mark.parametrize("other", ["http://a.example/x", "http://a.example/x/y/", "http://a.example/x.pdf", ""])
def test_addresses_of_another_form(other: str) -> None:
    assert form("http://a.example/x/") != form(other)


@pytest.mark.parametrize("url", ["", "/", "http://a.example/" + "a/" * 99 + "." * 99, "http://a.example/x.\udc80é"])
def test_every_address_has_a_form(url: str) -> None:
    depth, end = form(url)
    assert PLACES <= depth < PLACES + DEPTHS <= end < PLACES + DEPTHS + ENDS == SIZE


def test_what_an_earlier_version_learned_is_still_understood() -> None:
    arrays = np.ones(PLACES, np.float32).tobytes(), np.full(PLACES, 0.1, np.float32).tobytes()
    found = _read(Stored({"http://a.example/": True}, 1, (0.5, 0.0, 0.0), *arrays)).correction
    assert isinstance(found, Correction)
    assert found.of("http://a.example/", UNSURE, np.arange(4, dtype=np.uint16))[0] > UNSURE.relevance


def test_how_many_training_pages_are_on_topic_says_nothing_about_the_crawl() -> None:
    chance = np.random.default_rng(0)
    given = [chance.choice(2_000, 40, replace=False).astype(np.uint16) for _ in range(60)]
    words, rarity = np.arange(3_000, 3_040, dtype=np.uint16), np.ones(PLACES, np.float32)
    urls, pages = [""] * 60 + OTHERS[:2], [*given, words, words]
    labels = [True] * 55 + [False] * 5 + [True, False]
    shared = fit(urls, [UNSURE] * 62, pages, labels, rarity)
    apart = fit(urls, [UNSURE] * 62, pages, labels, rarity, given=60)
    assert abs(apart.shift) < shared.shift / 5
