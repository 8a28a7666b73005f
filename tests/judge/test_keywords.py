"""Relevance by words and phrases: sensible from the first page on, explained, stable, bounded."""

import asyncio
import tomllib
from itertools import pairwise
from math import log, sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.keywords import LEAST_WEIGHT, WINDOW, Keywords, Threshold, Weights
from lycosa.text import words
from lycosa.types import BadInput, Page, Stateful, Verdict


def make(*listed: str, **options: Any) -> Keywords:
    judge = msgspec.convert({"words": list(listed), **options}, Keywords)
    judge.prepare(Path(), lambda path: [])
    return judge


def judged(judge: Keywords, text: str = "", title: str = "", url: str = "") -> Verdict:
    return asyncio.run(judge.judge(Page(url=url, title=title, text=text, words=words(text))))


def filler(number: int) -> str:
    """Text of this many words, none of them a word anybody looks for."""
    return " ".join(f"filler{at % 97}" for at in range(number))


class TestRelevance:
    def test_no_word_no_relevance(self) -> None:
        assert judged(make("ontology"), "A page about something else.") == Verdict()

    def test_an_empty_page_is_irrelevant(self) -> None:
        assert judged(make("ontology")) == Verdict()

    def test_of_one_word_it_is_the_bm25_saturation(self) -> None:
        typical = filler(497) + " ontology" * 3
        assert judged(make("ontology"), typical).relevance == pytest.approx(3 / (3 + 3))
        assert judged(make("ontology", k1=1.2), typical).relevance == pytest.approx(3 / (3 + 1.2))

    def test_long_pages_need_more_mentions(self) -> None:
        long = filler(1500) + " ontology" * 3
        times = 3 / (0.5 + 0.5 * 1503 / 500)
        assert judged(make("ontology"), long).relevance == pytest.approx(times / (times + 3))
        assert judged(make("ontology", b=0.0), long).relevance == pytest.approx(0.5)

    def test_of_several_words_each_alone_can_make_a_page_relevant(self) -> None:
        text = filler(494) + " ontology" * 3 + " thesaurus" * 3
        expected = 1 - 2 ** (-2 / sqrt(2))
        assert judged(make("ontology", "thesaurus"), text).relevance == pytest.approx(expected)

    def test_more_mentions_more_relevance_and_never_above_one(self) -> None:
        judge = make("ontology", adapt=False)
        found = [judged(judge, filler(300) + " ontology" * times).relevance for times in (0, 1, 3, 10, 100, 10_000)]
        assert found == sorted(found)
        assert len(set(found)) == len(found)
        assert found[-1] <= 1

    def test_more_of_the_words_more_relevance(self) -> None:
        judge = make("ontology", "thesaurus", "taxonomy", adapt=False)
        one, two, three = (
            judged(judge, filler(400) + text).relevance
            for text in (
                " ontology" * 6,
                " ontology thesaurus" * 3,
                " ontology thesaurus taxonomy" * 2,
            )
        )
        assert one < two < three

    def test_one_mention_in_passing_is_not_enough_but_a_title_is(self) -> None:
        judge = make("ontology", "topic map")
        assert not judged(judge, filler(800) + " ontology").on_topic
        assert judged(judge, filler(400) + " ontology" * 4, title="Ontology").on_topic

    def test_title_and_address_count_by_their_weights(self) -> None:
        judge = make("topic map", adapt=False)
        assert judged(judge, filler(200)).relevance == 0
        by_url = judged(judge, filler(200), url="https://example.org/topic-maps/").relevance
        by_title = judged(judge, filler(200), title="Topic Maps").relevance
        assert [by_url, by_title] == pytest.approx([0.25, 0.5])
        silent = make("topic map", weights={"title": 0.0, "url": 0})
        assert judged(silent, filler(200), title="Topic Maps", url="https://topic-map.example/").relevance == 0

    def test_escapes_in_the_address_are_read(self) -> None:
        assert judged(make("topic map"), url="https://example.org/topic%20map").relevance > 0

    def test_tf_idf_is_the_share_of_the_query_that_is_covered(self) -> None:
        judge = make("ontology", "thesaurus", model="tfidf")
        half = judged(judge, filler(480) + " ontology" * 20)
        assert half.relevance == pytest.approx(0.5)
        assert half.why == {"ontology": pytest.approx(0.5)}
        assert judged(judge, filler(460) + " ontology thesaurus" * 1000).relevance == pytest.approx(1)
        assert judged(judge, filler(499) + " ontology").relevance == pytest.approx(log(2) / log(21) / 2)


class TestWords:
    def test_entries_may_be_phrases_quoted_or_not(self) -> None:
        for entry in ("topic map", '"topic map"', "'Topic Maps'", "  topic   map "):
            assert judged(make(entry), "about topic maps").relevance > 0
            assert judged(make(entry), "a topic, not on any map").relevance == 0

    def test_forms_of_a_word_are_one_term(self) -> None:
        once, twice = make("map"), make("map", "maps", "Map")
        assert twice.wanted_ == ["map"]
        assert judged(once, "a map") == judged(twice, "a map")

    @pytest.mark.parametrize("entry", ["-car", '-"car"', '"-car"', "- car"])
    def test_a_minus_speaks_against_the_page(self, entry: str) -> None:
        judge = make("jaguar", entry)
        text = filler(300) + " jaguar" * 20
        clean, dirty = judged(judge, text), judged(judge, text + " car" * 20)
        assert clean.on_topic
        assert not dirty.on_topic
        assert 0 < dirty.relevance < 0.2 * clean.relevance
        assert list(dirty.why) == ["jaguar", "-car"]
        assert dirty.why["-car"] < 0

    def test_one_not_word_in_passing_does_little(self) -> None:
        judge = make("jaguar", "-car", adapt=False)
        text = filler(500) + " jaguar" * 20
        assert judged(judge, text + " car").relevance > 0.7 * judged(judge, text).relevance

    def test_a_not_word_alone_is_no_reason(self) -> None:
        assert judged(make("jaguar", "-car"), "car car car").relevance == 0

    @pytest.mark.parametrize(
        ("listed", "problem"),
        [
            ([], "topic.words: name at least one word"),
            (["-car"], "topic.words: name at least one word"),
            (["map", ""], "topic.words: '' has no word"),
            (["map", "-"], "topic.words: '-' has no word"),
            (["of the"], "topic.words: 'of the' has no word"),
            (["map", "-maps"], "topic.words: 'map' is both"),
        ],
    )
    def test_useless_words_are_refused(self, listed: list[str], problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            make(*listed)


class TestOptions:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("threshold", 1.1),
            ("threshold", -0.1),
            ("threshold", float("nan")),
            ("b", 2.0),
            ("k1", 0.0),
            ("k1", float("inf")),
            ("weights", {"title": -1.0}),
            ("weights", {"url": float("nan")}),
        ],
    )
    def test_values_out_of_range_are_refused(self, key: str, value: Any) -> None:
        with pytest.raises(BadInput, match=rf"^topic\.{key}: "):
            make("map", **{key: value})

    @pytest.mark.parametrize(
        "options", [{"model": "bm42"}, {"weights": {"body": 1.0}}, {"threshold": "high"}, {"adapt": "yes"}]
    )
    def test_types_are_checked_when_it_is_built(self, options: dict[str, Any]) -> None:
        with pytest.raises(msgspec.ValidationError):
            make("map", **options)

    def test_it_prints_as_its_options(self) -> None:
        assert repr(make("map", weights={"title": 2.0})) == (
            "Keywords(words=['map'], model='bm25', k1=3.0, b=0.5, "
            "weights=Weights(title=2.0, text=1.0, url=1.0), threshold=0.5, adapt=True)"
        )
        assert Weights() == make("map").weights


class TestWhy:
    @given(
        st.lists(st.sampled_from(["map", "topic", "road", "car", "atlas", "blah"]), max_size=60),
        st.sampled_from(["bm25", "tfidf"]),
    )
    def test_it_sums_to_the_relevance_largest_first(self, text: list[str], model: str) -> None:
        judge = make("map", "topic map", "road atlas", "-car", "-road", model=model)
        verdict = judged(judge, " ".join(text), title="map of the road")
        assert sum(verdict.why.values()) == pytest.approx(verdict.relevance, abs=1e-12)
        sizes = [abs(value) for value in verdict.why.values()]
        assert sizes == sorted(sizes, reverse=True)
        assert 0 <= verdict.relevance <= 1

    def test_it_names_ten_terms_at_most_by_the_users_words(self) -> None:
        listed = [f"Word{letter}" for letter in "abcdefghijklmno"]
        why = judged(make(*listed), " ".join(listed) + " worda").why
        assert len(why) == 10
        assert next(iter(why)) == "Worda"


class TestLearning:
    def test_without_adapt_a_page_always_gets_the_same_verdict(self) -> None:
        judge = make("university", "dentistry", adapt=False)
        text = filler(100) + " university dentistry"
        first = judged(judge, text)
        for _ in range(3 * WINDOW):
            judged(judge, "university " + filler(400))
        assert judged(judge, text) == first

    def test_words_common_on_off_topic_pages_come_to_weigh_less(self) -> None:
        judge = make("university", "dentistry")
        common = filler(400) + " university" * 6
        before = judged(judge, common).relevance
        for _ in range(300):
            judged(judge, "university " + filler(400))
        university, dentistry = judge.weight_
        assert dentistry == 1
        assert university == LEAST_WEIGHT
        assert judged(judge, common).relevance < 0.6 * before
        assert judged(judge, filler(400) + " dentistry" * 6).relevance >= before

    def test_a_verdict_moves_little_from_page_to_page(self) -> None:
        judge = make("university", "dentistry")
        text = filler(400) + " university" * 3 + " dentistry"
        found = []
        for _ in range(100):
            found.append(judged(judge, text).relevance)
            judged(judge, "university " + filler(400))
        assert max(abs(a - b) for a, b in pairwise(found)) < 0.01

    def test_pages_on_topic_do_not_teach_weights(self) -> None:
        judge = make("university", "dentistry")
        for _ in range(40):
            judged(judge, "dentistry " * 20)
        assert judge.weight_ == [1, 1]
        assert judge.off_topic_ == 0

    def test_a_single_word_keeps_its_weight_however_common(self) -> None:
        judge = make("library")
        for _ in range(200):
            judged(judge, "library " + filler(400))
        assert judge.weight_ == [1]


class TestThreshold:
    def test_it_stays_where_it_divides(self) -> None:
        threshold = Threshold(0.5)
        for relevance in [0.1, 0.6, 0.0] * 200:
            threshold.note(relevance)
            assert threshold.value == 0.5

    def test_it_falls_towards_the_best_tenth_when_nothing_passes(self) -> None:
        threshold = Threshold(0.5)
        values = []
        for _ in range(8):
            for relevance in [0.0, 0.1, 0.2, 0.3, 0.4] * (WINDOW // 5):
                threshold.note(relevance)
            values.append(threshold.value)
        assert values[:2] == pytest.approx([0.45, 0.425])
        assert values[-1] == pytest.approx(0.4, abs=0.001)

    def test_it_never_falls_below_a_fifth_nor_without_a_hit(self) -> None:
        weak, none = Threshold(0.5), Threshold(0.5)
        for _ in range(20 * WINDOW):
            weak.note(0.01)
            none.note(0.0)
        assert weak.value == pytest.approx(0.1)
        assert none.value == 0.5

    def test_one_page_that_reaches_the_start_brings_it_back(self) -> None:
        threshold = Threshold(0.5)
        for _ in range(2 * WINDOW):
            threshold.note(0.3)
        assert threshold.value < 0.5
        threshold.note(0.7)
        assert threshold.value == 0.5

    def test_it_rises_towards_the_worst_tenth_when_all_pass(self) -> None:
        threshold = Threshold(0.5)
        for _ in range(20 * WINDOW):
            threshold.note(0.7)
        assert threshold.value == pytest.approx(0.7, abs=0.001)
        for _ in range(20 * WINDOW):
            threshold.note(0.99)
        assert threshold.value == 0.75
        for _ in range(WINDOW):
            threshold.note(0.2)
        assert threshold.value == 0.5

    def test_a_page_without_the_words_is_off_topic_even_at_zero(self) -> None:
        assert not judged(make("map", threshold=0), "nothing").on_topic
        assert judged(make("map", threshold=0), "map").on_topic

    def test_the_judge_uses_it_and_says_so(self) -> None:
        judge = make("map")
        weak = filler(400) + " map"
        first = judged(judge, weak)
        assert not first.on_topic
        assert "(threshold)" not in first.why
        for _ in range(3 * WINDOW):
            judged(judge, weak)
        verdict = judged(judge, filler(400) + " map" * 2)
        assert verdict.on_topic
        assert list(verdict.why) == ["map", "(threshold)"]
        assert verdict.why["(threshold)"] == -judge.threshold_.value > -0.5


class TestState:
    def crawl(self, judge: Keywords, pages: int, first: int = 0) -> list[Verdict]:
        texts = [
            filler(50 + 37 * (at % 11)) + " map" * (at % 5) + " atlas" * (at % 3) for at in range(first, first + pages)
        ]
        return [judged(judge, text) for text in texts]

    def test_a_restart_goes_on_as_if_nothing_had_happened(self) -> None:
        whole, before, after = make("map", "atlas"), make("map", "atlas"), make("map", "atlas")
        assert isinstance(whole, Stateful)
        expected = self.crawl(whole, 170)
        self.crawl(before, 120)
        after.load(msgspec.json.decode(msgspec.json.encode(before.save())))
        assert self.crawl(after, 50, first=120) == expected[120:]
        assert after.save() == whole.save()

    def test_saved_state_does_not_change_afterwards(self) -> None:
        judge = make("map")
        state = judge.save()
        before = msgspec.json.encode(state)
        self.crawl(judge, 10)
        assert msgspec.json.encode(state) == before

    def test_words_and_threshold_may_be_edited_between_runs(self) -> None:
        judge = make("map", "atlas")
        self.crawl(judge, 100)
        edited = make("atlas", "globe", threshold=0.4)
        edited.load(judge.save())
        assert edited.seen_in_[0] == judge.seen_in_[1]
        assert edited.weight_[1] == 1
        assert edited.threshold_.value == 0.4
        assert judged(edited, "globe " * 20).on_topic

    def test_state_stays_small(self) -> None:
        judge = make("map", "atlas")
        self.crawl(judge, 3 * WINDOW - 1)
        assert len(msgspec.json.encode(judge.save())) < 2_000


def test_the_shipped_example_tells_spiders_from_heroes() -> None:
    example = Path(__file__).parents[2] / "examples" / "keywords" / "crawl.toml"
    topic = tomllib.loads(example.read_text(encoding="utf-8"))["topic"]
    assert topic.pop("kind") == "keywords"
    judge = make(*topic.pop("words"), **topic)
    assert judged(judge, "Wolf spiders are arachnids of the family Lycosidae. " * 3, title="Wolf spider").on_topic
    assert not judged(judge, "The arachnid bites him and he becomes Spider-Man. " * 10, title="Spider-Man").on_topic


@given(
    st.lists(st.lists(st.sampled_from(["topic", "maps", "of", "spiders", "web", "wolf", "x1"]), max_size=6), max_size=9)
)
def test_of_many_texts_at_once_it_is_the_same_as_one_by_one(many: list[list[str]]) -> None:
    listed = ("topic map", "spider", "-wolf spider")
    assert make(*listed).relevances_of(many) == [make(*listed).relevance_of(one) for one in many]
