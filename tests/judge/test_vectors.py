import numpy as np

from lycosa.judge import vectors
from lycosa.judge.bags import Bags
from lycosa.judge.vectors import Space, direct, learn

TEETH = "dentist tooth gum crown enamel".split()
STARS = "star planet orbit comet galaxy".split()
BOTH = "page city street visit".split()


def corpus(pages: int = 60) -> Bags:
    """Pages about teeth and pages about stars, each with some of their words."""
    bags = Bags()
    chance = np.random.default_rng(1)
    for number in range(pages):
        own = chance.choice(TEETH if number % 2 else STARS, 3, replace=False)
        shared = chance.choice(BOTH, 2, replace=False)
        bags.add(f"http://a.example/{number}", dict.fromkeys([*own.tolist(), *shared.tolist()], 1), dict)
    return bags


def space_of(bags: Bags, asked: tuple[str, ...] = (), meaning: bool = True) -> Space:
    off_topic = np.ones(len(bags), bool)
    return learn(bags.rows(), bags.terms, bags.words, {word: word for word in asked}, off_topic, meaning)


def cosine(space: Space, one: str, other: str) -> float:
    first, second = (space.vectors[space.terms.index(word)] - space.mean for word in (one, other))
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))


def test_words_that_are_used_together_are_near() -> None:
    space = space_of(corpus())
    assert cosine(space, "dentist", "enamel") > 0.5
    assert cosine(space, "dentist", "galaxy") < 0


def test_the_same_pages_give_the_same_vectors() -> None:
    one, other = space_of(corpus()), space_of(corpus())
    assert np.array_equal(one.vectors, other.vectors)


def test_pages_in_several_blocks_give_what_one_block_gives(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    whole = space_of(corpus())
    monkeypatch.setattr(vectors, "_BLOCK", 7)
    parts = space_of(corpus())
    assert np.allclose(whole.vectors @ whole.vectors.T, parts.vectors @ parts.vectors.T, atol=0.01)


def test_a_space_is_the_same_after_it_was_kept() -> None:
    space = space_of(corpus(), ("comet", "unheard of"))
    again = Space.unpack(space.pack())
    assert (again.pages, again.terms, again.words) == (space.pages, space.terms, space.words)
    for name in ("df", "idf", "weights", "vectors", "mean"):
        assert np.array_equal(getattr(again, name), getattr(space, name)), name


def test_before_the_first_page_there_are_the_words_that_are_asked_for() -> None:
    space = learn(Bags().rows(), [], [], {"teeth": "teeth"}, np.zeros(0, bool), meaning=False)
    assert space.terms == ["teeth"]
    assert direct(space, {"teeth": 1.0}).plain.tolist() == [1.0, 0.0]


def test_a_word_that_is_common_only_on_topic_stays_telling() -> None:
    bags = corpus()
    about_stars = np.array([number % 2 == 0 for number in range(60)])
    known, unknown = (
        learn(bags.rows(), bags.terms, bags.words, {}, off_topic, meaning=False)
        for off_topic in (~about_stars, np.ones(60, bool))
    )
    place = known.terms.index("star")
    assert known.idf[place] > unknown.idf[place]


def test_meaning_counts_the_less_the_fewer_pages_have_the_words() -> None:
    space = space_of(corpus(), ("dentist", "unheard"))
    often, seldom = direct(space, {"dentist": 1.0}), direct(space, {"unheard": 1.0})
    assert often.share > seldom.share == 0
