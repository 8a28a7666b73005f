"""Have we seen this page before?"""

import os
import random
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse import content_digest, distance, simhash

VOCABULARY = [
    f"{a}{b}{c}"
    for a in ("sp", "wo", "hu", "cra", "li")
    for b in ("i", "o", "a", "ea")
    for c in ("der", "lf", "nt", "wl", "nk", "ts", "rm", "ck")
]


def prose(seed: int, size: int = 500) -> list[str]:
    chance = random.Random(seed)
    return [
        chance.choice(VOCABULARY) + (chance.choice(VOCABULARY) if chance.random() < 0.5 else "") for _ in range(size)
    ]


def test_the_same_words_have_the_same_bits() -> None:
    assert distance(simhash(prose(1)), simhash(iter(prose(1)))) == 0


@pytest.mark.parametrize(("changes", "most"), [(1, 3), (5, 5), (10, 7)])
def test_near_duplicates_differ_in_few_bits(changes: int, most: int) -> None:
    distances = []
    for seed in range(40):
        words = prose(seed)
        changed = list(words)
        for place in random.Random(seed).sample(range(len(words)), changes):
            changed[place] = f"new{seed}"
        distances.append(distance(simhash(words), simhash(changed)))
    assert sum(distances) / len(distances) <= most
    assert max(distances) <= 3 * most


def test_words_added_in_the_middle_change_little() -> None:
    words = prose(7)
    assert distance(simhash(words), simhash([*words[:250], "last", "changed", "2009", *words[250:]])) <= 5


def test_blocks_in_another_order_change_little() -> None:
    words = prose(8)
    assert distance(simhash(words), simhash(words[250:] + words[:250])) <= 3


def test_unrelated_pages_differ_in_many_bits() -> None:
    bits = [simhash([f"{seed}{word}" for word in prose(seed)]) for seed in range(20)]
    distances = [distance(one, other) for one, other in combinations(bits, 2)]
    assert min(distances) > 10
    assert 25 < sum(distances) / len(distances) < 39


def test_no_words() -> None:
    assert simhash([]) == simhash([""]) == 0
    assert distance(0, 2**64 - 1) == 64


def test_short_pages_are_told_apart() -> None:
    assert len({simhash([word]) for word in VOCABULARY}) == len(VOCABULARY)
    assert 0 not in {simhash([word, "page"]) for word in VOCABULARY}


@given(st.lists(st.text(), max_size=100))
def test_any_words_have_64_bits(words: list[str]) -> None:
    assert 0 <= simhash(words) < 2**64
    assert simhash(words) == simhash(tuple(words))


def test_another_process_finds_the_same() -> None:
    code = "from lycosa.parse import simhash; print(simhash(['wolf', 'spider', 'caf\\u00e9', 'x'] * 10))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment).stdout
    assert int(found) == simhash(["wolf", "spider", "caf\u00e9", "x"] * 10)


def test_long_pages() -> None:
    assert distance(simhash(prose(1, 50_000)), simhash(prose(1, 50_000)[:-100])) <= 3


def test_digest() -> None:
    assert content_digest(b"", 0) == "99aa06d3014798d86001c324468d497f"
    assert content_digest(b"a") != content_digest(b"b")
    assert len(content_digest(b"x" * 1000)) == 32


def test_without_a_secret_digests_cannot_be_foretold_either() -> None:
    """They are what tells pages apart in the lab, whose recorded pages are those of strangers."""
    assert content_digest(b"a") != content_digest(b"a", 0)
