"""Relevance by words and phrases: sensible from the first page on, explained, calibrated, bounded."""

import tomllib
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge.keywords import FIRST_FIT, MOST_COMMON, REMEMBERED, TOLD, Keywords, Weights
from lycosa.text import words
from lycosa.types import BadInput, Learns, Link, Page, Reply, Stateful, Verdict, Visit


def make(*listed: str, **options: Any) -> Keywords:
    judge = msgspec.convert({"words": list(listed), **options}, Keywords)
    judge.prepare(Path(), lambda path: [])
    return judge


def verdict_on(judge: Keywords, page: Page) -> Verdict:
    """A judge that waits for nothing needs no event loop, which takes longer than the judge."""
    try:
        judge.judge(page).send(None)
    except StopIteration as done:
        found: Verdict = done.value
        return found
    raise AssertionError("it waits")


def judged(judge: Keywords, text: str = "", title: str = "", url: str = "") -> Verdict:
    return verdict_on(judge, Page(url=url, title=title, text=text, words=words(text)))


def filler(number: int) -> str:
    """Text of this many words, none of them a word anybody looks for."""
    return " ".join(f"filler{at % 97}" for at in range(number))


class TestRelevance:
    def test_no_word_no_relevance(self) -> None:
        assert judged(make("ontology"), "A page about something else.") == Verdict(model="keywords 1")

    def test_an_empty_page_is_irrelevant(self) -> None:
        assert judged(make("ontology")) == Verdict(model="keywords 1")

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


class World:
    """Pages on a topic and others, by chance: each kind has words of its own beside those that all pages share."""

    def __init__(self, seed: int = 1) -> None:
        self.random = Random(seed)
        self.common = [f"common{number}" for number in range(80)]
        self.topical = [f"spider{number}" for number in range(40)]
        self.others = [[f"other{kind}x{number}" for number in range(40)] for kind in range(4)]

    def page(self, on: bool, mentions: int, word: str = "arachnid") -> Page:
        pick, kind = self.random.choices, self.topical if on else self.random.choice(self.others)
        text = [*pick(self.common, k=120), *pick(kind, k=60), *[word] * mentions]
        self.random.shuffle(text)
        return Page(url=f"http://a.example/{self.random.getrandbits(40):x}", text=" ".join(text), words=text)


def crawl(judge: Keywords, pages: list[Page]) -> dict[str, Verdict]:
    """What a crawl of these pages, one after the other, ends with."""
    verdicts = {}
    for page in pages:
        verdicts[page.url] = verdict = verdict_on(judge, page)
        judge.learn(Visit(Reply(Link(page.url)), page, verdict, digest="d"))
        verdicts |= judge.revised()
    return verdicts


def on_topic(judge: Keywords, pages: list[Page]) -> list[bool]:
    verdicts = crawl(judge, pages)
    return [verdicts[page.url].on_topic for page in pages]


class TestCalibration:
    def weak_topic(self, pages: int, share: float = 0.5) -> tuple[list[Page], list[bool]]:
        """Most pages on topic have the word too seldom for the first belief; the others have it now and then."""
        world, chance = World(), Random(2)
        truth = [chance.random() < share for _ in range(pages)]
        often = {True: (1, 1, 2, 6), False: (0, 0, 0, 1)}
        return [world.page(on, chance.choice(often[on])) for on in truth], truth

    def test_where_the_other_words_agree_a_few_mentions_are_enough(self) -> None:
        pages, truth = self.weak_topic(300)
        fixed, calibrated = on_topic(make("arachnid", adapt=False), pages), on_topic(make("arachnid"), pages)
        right = [said == true for said, true in zip(calibrated, truth, strict=True)]
        assert sum(right) > 0.95 * len(right)
        assert sum(fixed) < 0.4 * sum(truth)

    def test_relevance_is_a_probability(self) -> None:
        pages, truth = self.weak_topic(300)
        found = crawl(make("arachnid"), pages)
        errors = [(found[page.url].relevance - true) ** 2 for page, true in zip(pages[100:], truth[100:], strict=True)]
        assert sum(errors) / len(errors) < 0.05

    def test_where_nearly_all_is_on_topic_it_says_so(self) -> None:
        pages, _ = self.weak_topic(300, share=0.96)
        fixed, calibrated = on_topic(make("arachnid", adapt=False), pages), on_topic(make("arachnid"), pages)
        assert sum(calibrated) > 1.3 * sum(fixed)
        world = World()
        assert all(on_topic(make("arachnid"), [world.page(True, 8) for _ in range(100)]))

    def test_where_nothing_is_on_topic_hardly_anything_is_called_so(self) -> None:
        world, chance = World(), Random(3)
        pages = [world.page(False, chance.choice((*[0] * 12, 1, 1, 2))) for _ in range(400)]
        assert sum(on_topic(make("arachnid"), pages)) < 0.03 * len(pages)

    @pytest.mark.parametrize("times", [1, 3, 6])
    def test_a_word_in_the_menu_of_every_page_says_little(self, times: int) -> None:
        world, chance = World(), Random(4)
        truth = [chance.random() < 0.15 for _ in range(400)]
        pages = [world.page(on, times + (chance.choice((4, 8, 12)) if on else 0)) for on in truth]
        said = on_topic(make("arachnid", "lycosidae"), pages)
        wrong = [a != b for a, b in zip(said, truth, strict=True)]
        assert sum(wrong[100:]) <= 3

    def test_the_menu_is_subtracted_where_the_rest_of_the_page_is_surely_off_topic(self) -> None:
        world, chance = World(), Random(4)
        truth = [chance.random() < 0.3 for _ in range(300)]
        judge = make("arachnid", "lycosidae", "wolf spider", "spinneret", "-game")
        crawl(judge, [world.page(on, 9 if on else 1) for on in truth])
        assert judge.common_ == [pytest.approx(1.47, abs=0.02), 0, 0, 0]  # one in 181 words, on a page of 500
        assert dict(judge.describe(9)[0][1])["arachnid"] == pytest.approx(0.4, abs=0.01)
        assert judged(judge, filler(180) + " arachnid").relevance < 0.001
        assert judge.relevance_of(["arachnid"]) > 0

    def test_a_word_loses_no_more_than_it_has_and_never_all(self) -> None:
        world = World()
        judge = make("arachnid", "lycosidae", "spider")
        pages = [world.page(False, 4) for _ in range(200)]  # nothing stands out
        crawl(judge, pages)
        assert judge.common_ == [0, 0, 0]
        assert MOST_COMMON < 10
        assert verdict_on(judge, pages[0]).relevance > 0

    def test_a_small_crawl_is_judged_by_the_first_belief(self) -> None:
        pages, _ = self.weak_topic(FIRST_FIT - 1)
        assert on_topic(make("arachnid"), pages) == on_topic(make("arachnid", adapt=False), pages)

    def test_it_begins_before_a_hundred_pages(self) -> None:
        pages, truth = self.weak_topic(100)
        before, after = on_topic(make("arachnid", adapt=False), pages), on_topic(make("arachnid"), pages)
        assert sum(a == t for a, t in zip(after, truth, strict=True)) > sum(
            b == t for b, t in zip(before, truth, strict=True)
        )

    @pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.9, 1.0])
    def test_the_threshold_is_obeyed_exactly(self, threshold: float) -> None:
        pages, _ = self.weak_topic(200)
        judge = make("arachnid", threshold=threshold)
        crawl(judge, pages)
        for page in pages:
            verdict = verdict_on(judge, page)
            assert verdict.on_topic == (verdict.relevance > 0 and verdict.relevance >= threshold)

    def test_without_the_words_a_page_is_off_topic_whatever_else_it_says(self) -> None:
        pages, _ = self.weak_topic(200)
        judge = make("arachnid", threshold=0)
        crawl(judge, pages)
        assert verdict_on(judge, World().page(True, 0)) == Verdict(model=f"keywords {judge.version_}")

    def test_the_reasons_say_what_was_learned_and_sum_to_the_relevance(self) -> None:
        pages, truth = self.weak_topic(200)
        judge = make("arachnid")
        crawl(judge, pages)
        verdict = verdict_on(judge, pages[truth.index(True)])
        assert {"arachnid", "(calibration)", "(other words)"} <= set(verdict.why)
        assert sum(verdict.why.values()) == pytest.approx(verdict.relevance)

    def test_scores_of_many_are_those_of_one(self) -> None:
        for model in ("bm25", "tfidf"):
            judge = make("common1", "common2 common3", "-common4", model=model)
            world = World()
            crawl(judge, [world.page(True, 0) for _ in range(30)])
            many = judge.terms_.of_pages(judge._times(), judge.common_)
            assert many.tolist() == pytest.approx(
                [judge.terms_.of_page(one.mentions, judge.common_)[0] for one in judge.seen_]
            )
            alone = [
                judge.calibration_.probability(score, one.company)
                for score, one in zip(many.tolist(), judge.seen_, strict=True)
            ]
            assert judge.calibration_.probabilities(many, judge._companies()).tolist() == pytest.approx(alone)


class TestLearning:
    def test_to_judge_changes_nothing(self) -> None:
        judge = make("map", "atlas")
        assert isinstance(judge, Learns)
        before = msgspec.json.encode(judge.save())
        first = judged(judge, "a map")
        for _ in range(100):
            judged(judge, "map map atlas " + filler(30))
        assert judged(judge, "a map") == first
        assert msgspec.json.encode(judge.save()) == before

    def test_without_adapt_a_page_always_gets_the_same_verdict(self) -> None:
        judge, page = make("arachnid", adapt=False), World().page(True, 2)
        pages, _ = TestCalibration().weak_topic(200)
        first = verdict_on(judge, page)
        crawl(judge, pages)
        assert verdict_on(judge, page) == first
        assert first.model == ""
        assert judge.revised() == []

    def test_what_was_not_judged_teaches_nothing(self) -> None:
        judge, page = make("map"), Page(url="http://a.example/", words=("map",))
        reply = Reply(Link("http://a.example/"))
        judge.learn(Visit(Reply(Link("http://a.example/"), error="timeout"), page))
        judge.learn(Visit(reply, page))  # a sitemap
        judge.learn(Visit(reply, page, digest="d", duplicate_of="http://b.example/"))
        assert judge.pages_ == 0

    def test_it_learns_from_a_page_that_it_did_not_judge_last(self) -> None:
        pages, _ = TestCalibration().weak_topic(120)
        one, other = make("arachnid"), make("arachnid")
        crawl(one, pages)
        for page in pages:
            verdict = verdict_on(other, page)
            verdict_on(other, pages[0])
            other.learn(Visit(Reply(Link(page.url)), page, verdict, digest="d"))
            other.revised()
        assert other.save() == one.save()

    def test_pages_of_other_shards_calibrate_as_if_they_were_its_own(self) -> None:
        pages, _ = TestCalibration().weak_topic(120)
        one, other, alone = (make("arachnid") for _ in range(3))
        one.share()
        other.share()
        crawl(alone, pages)
        for page in pages:
            verdict = verdict_on(one, page)
            one.learn(Visit(Reply(Link(page.url)), page, verdict, digest="d"))
            one.revised()
            other.study(msgspec.msgpack.decode(msgspec.msgpack.encode(one.lesson())))
            other.revised()
        assert (one.lesson(), other.lesson()) == ({}, {}), "what came from others is not passed on"
        assert other.version_ == alone.version_ > 1
        for page in pages:
            assert verdict_on(other, page) == verdict_on(alone, page)

    def test_a_new_calibration_is_a_new_version_and_tells_once_whose_verdict_changed(self) -> None:
        pages, _ = TestCalibration().weak_topic(250)
        judge, verdicts, versions = make("arachnid"), {}, set()
        for page in pages:
            verdict = verdicts[page.url] = verdict_on(judge, page)
            versions.add(verdict.model)
            judge.learn(Visit(Reply(Link(page.url)), page, verdict, digest="d"))
            before = judge.save()
            revised = judge.revised()
            for url, changed in revised:
                before_it = verdicts[url]
                moved = abs(changed.relevance - before_it.relevance) > TOLD / 2
                assert changed.on_topic != before_it.on_topic or moved
                assert changed.model == f"keywords {judge.version_}"
                verdicts[url] = changed
            assert judge.revised() == []
            if not revised:
                assert judge.save()["seen"] == before["seen"]
        assert "keywords 1" in versions
        assert len(versions) > 2
        told = [verdicts[page.url].on_topic for page in pages]
        assert sum(told) > 100

    def test_memory_is_bounded(self) -> None:
        pages, _ = TestCalibration().weak_topic(REMEMBERED + 80)
        judge = make("arachnid", "lycosidae")
        for page in pages:
            long = Reply(Link(f"{page.url}/{'x' * 400 if page.url < 'http://a.example/8' else ''}"))
            judge.learn(Visit(long, page, verdict_on(judge, page), digest="d"))
        assert len(judge.seen_) == REMEMBERED
        assert all(len(one.url) < 400 for one in judge.seen_)
        assert all(url for url, _ in judge.revised())
        assert len(msgspec.json.encode(judge.save())) < 40_000


class TestState:
    def test_a_restart_goes_on_as_if_nothing_had_happened(self) -> None:
        pages, _ = TestCalibration().weak_topic(220)
        whole, before, after = make("arachnid", "-atlas"), make("arachnid", "-atlas"), make("arachnid", "-atlas")
        assert isinstance(whole, Stateful)
        expected = crawl(whole, pages)
        found = crawl(before, pages[:130])
        after.load(msgspec.json.decode(msgspec.json.encode(before.save())))
        found |= crawl(after, pages[130:])
        assert found == expected
        assert after.save() == whole.save()

    def test_saved_state_does_not_change_afterwards(self) -> None:
        pages, _ = TestCalibration().weak_topic(60)
        judge = make("arachnid")
        crawl(judge, pages[:30])
        state = judge.save()
        before = msgspec.json.encode(state)
        crawl(judge, pages[30:])
        assert msgspec.json.encode(state) == before

    def test_with_other_words_it_starts_from_nothing(self) -> None:
        pages, _ = TestCalibration().weak_topic(100)
        judge, edited = make("arachnid"), make("arachnid", "globe")
        crawl(judge, pages)
        new = msgspec.json.encode(edited.save())
        edited.load(judge.save())
        assert msgspec.json.encode(edited.save()) == new


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
