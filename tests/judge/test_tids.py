"""The TIDS table: the published arithmetic, exact growth, what it takes to join, bounded size."""

import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from math import log, sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judge import tids as module
from lycosa.judge.tids import Table, Tids
from lycosa.text import STEMS as TEXT_STEMS
from lycosa.text import words
from lycosa.types import BadInput, Link, Page, Reply, Stateful, Verdict, Visit

DOCS = ["crawler crawler web", "crawler index", "web index index index"]
FOURTH = "crawler web crawler news"
STEMS = {"crawler": "crawler", "web": "web", "index": "index", "news": "new"}  # the stemmer's view of these words


def stem_of(word: str) -> str:
    return TEXT_STEMS[word]


def page(text: str, title: str = "") -> Page:
    return Page(title=title, text=text, words=words(text))


PUBLISHED = {"idf": "literal", "accept": "mean"}


def make(folder: Path, docs: Iterable[str] = DOCS, **options: Any) -> Tids:
    """As published, but for the options given."""
    (folder / "relevant").mkdir(exist_ok=True)
    judge = msgspec.convert({"examples": "relevant", **PUBLISHED, **options}, Tids)
    judge.prepare(folder, lambda path: [(f"{number}.txt", page(text)) for number, text in enumerate(docs)])
    return judge


def judged(judge: Tids, text: str, title: str = "") -> Verdict:
    seen = page(text, title)
    verdict = asyncio.run(judge.judge(seen))
    judge.learn(Visit(Reply(Link("http://x/")), seen, verdict))
    return verdict


def raw(table: Table) -> dict[str, float]:
    return dict(zip(table.terms, table.raw().tolist(), strict=True))


def filled(docs: Iterable[str], **options: Any) -> Table:
    table = Table(**options)
    for text in docs:
        table.add(Counter(text.split()))
    return table


def from_the_definition(docs: list[str], smooth: bool = False) -> dict[str, float]:
    counts = [Counter(text.split()) for text in docs]
    df = Counter(term for count in counts for term in count)
    idf = {term: log(len(docs) / df[term] + smooth) for term in df}
    return {term: sum(log(1 + count[term]) * idf[term] for count in counts if term in count) for term in df}


class TestWorkedExamples:
    def test_scores(self) -> None:
        assert raw(filled(DOCS)) == pytest.approx({"crawler": 0.726496, "web": 0.562094, "index": 0.843141}, abs=1e-6)

    def test_one_weight(self) -> None:
        assert log(3 / 2) == pytest.approx(0.405465, abs=1e-6)
        table = filled(["crawler crawler", "crawler", "web"])  # df and N as in the example
        share = log(3) / (log(3) + log(2))
        assert raw(table)["crawler"] * share == pytest.approx(0.445449, abs=1e-6)

    def test_normalised_table(self, tmp_path: Path) -> None:
        assert make(tmp_path).table(3) == [
            ("index", pytest.approx(1.0)),
            ("crawler", pytest.approx(0.861654, abs=1e-6)),
            ("web", pytest.approx(0.666667, abs=1e-6)),
        ]

    @pytest.mark.parametrize(
        ("text", "cosine", "mean"),
        [("web crawler", 73.0779, 76.4160), ("web weather", 31.8772, 33.3333), ("index", 67.6217, 100.0)],
    )
    def test_similarity(self, tmp_path: Path, text: str, cosine: float, mean: float) -> None:
        for measure, expected in (("cosine", cosine), ("mean", mean)):
            judge = make(tmp_path, measure=measure, grow=False)
            assert judge.similarity(words(text)) == pytest.approx(expected, abs=1e-4)
            assert judged(judge, text).relevance == pytest.approx(expected / 100, abs=1e-6)

    def test_score_of_a_link_is_that_of_its_page_and_its_anchor(self, tmp_path: Path) -> None:
        judge = make(tmp_path, grow=False)
        parent = 100 * judged(judge, DOCS[0]).relevance
        anchor = judge.similarity(["index"])
        assert [parent, anchor] == pytest.approx([73.3335, 67.6217], abs=1e-4)
        assert parent + anchor == pytest.approx(140.9552, abs=1e-3)

    def test_growth(self, tmp_path: Path) -> None:
        table = filled(DOCS)
        table.add(Counter(FOURTH.split()))
        assert raw(table)["crawler"] == pytest.approx(0.831508, abs=1e-6)
        assert raw(table)["news"] == pytest.approx(0.960906, abs=1e-6)
        judge = make(tmp_path, accept=0)
        assert judged(judge, FOURTH).on_topic
        grown = raw(judge.table_)
        assert grown == pytest.approx({STEMS[term]: value for term, value in raw(table).items()}, abs=1e-12)

    def test_a_term_on_every_page_counts_for_nothing_unless_smooth(self) -> None:
        assert raw(filled(["a b", "a c"]))["a"] == 0.0
        smooth = raw(filled(["a b", "a c"], smooth=True))
        assert smooth["a"] == pytest.approx(2 * log(2) * log(2))
        assert smooth["b"] == pytest.approx(log(2) * log(3))


letters = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12).map(" ".join)


class TestTable:
    @given(st.lists(letters, min_size=1, max_size=12), st.booleans(), st.integers(0, 12))
    def test_growing_equals_building_anew(self, docs: list[str], smooth: bool, looked: int) -> None:
        grown = Table(smooth=smooth)
        for number, text in enumerate(docs):
            grown.add(Counter(text.split()))
            if number == looked:
                grown.compare(Counter(text.split()))  # a look in between must not leave anything stale
        assert raw(grown) == pytest.approx(from_the_definition(docs, smooth), abs=1e-12)
        built = filled(docs, smooth=smooth)
        assert raw(built) == raw(grown)
        assert built.rows() == grown.rows()

    @given(st.lists(letters, min_size=1, max_size=12), letters, st.sampled_from(["cosine", "mean"]), st.booleans())
    def test_both_ways_to_compare_agree(self, docs: list[str], text: str, measure: Any, smooth: bool) -> None:
        table = filled(docs, measure=measure, smooth=smooth)
        counts = Counter(text.split())
        similarity, why = table.compare(counts)
        assert similarity == pytest.approx(table.compare_few(counts), abs=1e-12)
        assert -1e-12 <= similarity <= 1 + 1e-9
        assert sum(why.values()) == pytest.approx(similarity, abs=1e-12)  # eight letters: no term is left out

    @given(st.lists(letters, min_size=1, max_size=12), st.sampled_from(["cosine", "mean"]), st.booleans())
    def test_the_mean_of_the_members_is_exact(self, docs: list[str], measure: Any, smooth: bool) -> None:
        table = filled(docs, measure=measure, smooth=smooth)
        each = [table.compare_few(Counter(text.split())) for text in docs]
        assert table.mean() == pytest.approx(sum(each) / len(each), abs=1e-12)

    @given(st.lists(letters, min_size=2, max_size=8), st.sampled_from(["cosine", "mean"]), st.booleans())
    def test_a_member_held_out_is_compared_with_a_table_of_the_others(
        self, docs: list[str], measure: Any, smooth: bool
    ) -> None:
        table, others = filled(docs, measure=measure, smooth=smooth), filled(docs[1:], measure=measure, smooth=smooth)
        first, rows = Counter(docs[0].split()), table.rows()
        assert table.held_out(first) == pytest.approx(others.compare_few(first), abs=1e-9)
        assert table.rows() == rows

    def test_cosine_by_hand(self) -> None:
        table = filled(["a a b", "b c", "d"])
        scores = from_the_definition(["a a b", "b c", "d"])
        page_vector = {"a": log(3), "d": log(2), "x": log(2)}
        dot = sum(value * scores.get(term, 0) for term, value in page_vector.items())
        size = sqrt(sum(v * v for v in page_vector.values()) * sum(v * v for v in scores.values()))
        assert table.compare(Counter("a a d x".split()))[0] == pytest.approx(dot / size)

    def test_an_empty_table_and_an_empty_page_have_no_similarity(self) -> None:
        for measure in ("cosine", "mean"):
            empty = Table(measure)  # type: ignore[arg-type]
            assert empty.compare(Counter("a")) == (0.0, {})
            assert empty.compare_few(Counter("a")) == 0.0
            assert empty.mean() == 0.0
            assert empty.rows() == []
            assert filled(DOCS, measure=measure).compare(Counter()) == (0.0, {})

    def test_rare_terms_are_forgotten_when_there_are_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOST_TERMS", 30)
        table = Table(smooth=True)
        for number in range(50):
            table.add(Counter(["core", "topic", f"rare{number}", f"rarer{number}", *["often"] * 3]))
            assert len(table.terms) <= 30
        rows = {term: (df, weight) for term, _, df, weight, _ in table.rows()}
        assert rows["core"] == (50, pytest.approx(50 * log(2)))
        assert rows["often"] == (50, pytest.approx(50 * log(4)))
        assert table.compare_few(Counter(["core"])) == pytest.approx(table.compare(Counter(["core"]))[0])

    def test_one_huge_page_does_not_break_the_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOST_TERMS", 30)
        table = filled(["core topic"] * 2)
        table.add(Counter(f"spam{number}" for number in range(500)))
        assert len(table.terms) == 20
        assert {"core", "topic"} < set(table.terms)


class TestJudge:
    def test_why_names_the_ten_terms_that_speak_most_for_the_page(self, tmp_path: Path) -> None:
        terms = [f"term{letter}" for letter in "abcdefghijklmn"]
        judge = make(tmp_path, [" ".join(terms), "other things"], grow=False)
        verdict = judged(judge, " ".join([*terms, *["terma"] * 5]))
        assert len(verdict.why) == 10
        assert next(iter(verdict.why)) == "terma"
        assert list(verdict.why.values()) == sorted(verdict.why.values(), reverse=True)

    def test_why_sums_to_the_relevance(self, tmp_path: Path) -> None:
        verdict = judged(make(tmp_path), "index of a web crawler and more")
        assert sum(verdict.why.values()) == pytest.approx(verdict.relevance)
        assert list(verdict.why) == ["index", "crawler", "web"]

    def test_the_title_is_part_of_the_page(self, tmp_path: Path) -> None:
        judge = make(tmp_path, grow=False)
        assert judged(judge, "crawler", title="Web").relevance == pytest.approx(judged(judge, "web crawler").relevance)

    def test_a_page_without_a_known_word_is_never_on_topic(self, tmp_path: Path) -> None:
        judge = make(tmp_path, accept=0.0)
        assert judged(judge, "weather") == Verdict()
        assert judged(judge, "") == Verdict()
        assert judge.table_.pages == 3

    def test_a_page_as_similar_as_the_members_are_on_average_joins(self, tmp_path: Path) -> None:
        judge = make(tmp_path)
        each = [judge.similarity(words(text)) for text in DOCS]
        assert judge.bound_ == pytest.approx(sum(each) / 3)
        assert not judged(judge, "web weather").on_topic
        assert judge.table_.pages == 3
        assert judged(judge, "crawler web index").on_topic
        assert judge.table_.pages == 4

    def test_without_grow_nothing_joins(self, tmp_path: Path) -> None:
        judge = make(tmp_path, grow=False)
        first = judged(judge, "crawler web index")
        assert first.on_topic
        assert judge.table_.pages == 3
        assert judged(judge, "crawler web index") == first

    def test_the_bound_is_computed_anew_after_so_many_joined(self, tmp_path: Path) -> None:
        judge = make(tmp_path, refresh=3)
        bounds = []
        for _ in range(4):
            assert judged(judge, "crawler web index news").on_topic
            bounds.append(judge.bound_)
        assert bounds[0] == bounds[1] != bounds[2] == bounds[3]
        assert bounds[2] != 100 * judge.table_.mean()

    def test_quantile_of_the_members_as_bound_each_compared_with_the_others(self, tmp_path: Path) -> None:
        docs = [*DOCS, FOURTH, "index of the news"]
        each = sorted(
            make(tmp_path, docs[:at] + docs[at + 1 :]).similarity(words(text)) for at, text in enumerate(docs)
        )
        for quantile, expected in ((0.0, each[0]), (0.5, each[2]), (1.0, each[4])):
            judge = make(tmp_path, docs, accept="quantile", accept_quantile=quantile)
            assert judge.bound_ == pytest.approx(expected)

    def test_many_examples_are_sampled(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOST_HELD_OUT", 2)
        assert len(make(tmp_path, DOCS * 3).members_) == 2
        assert len(make(tmp_path, DOCS[:2]).members_) == 2

    def test_members_remembered_are_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOST_MEMBERS", 5)
        judge = make(tmp_path, accept="quantile", accept_quantile=0.0, refresh=1)
        for _ in range(20):
            judged(judge, "crawler web index")
        assert len(judge.members_) == 5

    def test_a_number_as_bound(self, tmp_path: Path) -> None:
        judge = make(tmp_path, accept=32, grow=False)
        assert not judged(judge, "web weather").on_topic
        assert judged(judge, "web crawler").on_topic

    def test_smooth_idf_keeps_what_all_pages_share(self, tmp_path: Path) -> None:
        docs = ["dentist tooth", "dentist gum", "dentist smile"]
        assert make(tmp_path, docs).similarity(["dentist"]) == 0
        assert make(tmp_path, docs, idf="smooth").similarity(["dentist"]) > 50

    def test_stop_words_and_numbers_are_no_terms(self, tmp_path: Path) -> None:
        judge = make(tmp_path, ["the crawler of 1994", "a web 2"])
        assert sorted(judge.table_.terms) == ["crawler", "web"]

    def test_the_table_can_be_written(self, tmp_path: Path) -> None:
        judge = make(tmp_path)
        judge.write_tsv(tmp_path / "table.tsv")
        lines = (tmp_path / "table.tsv").read_text(encoding="utf-8").splitlines()
        assert lines[0].split("\t") == ["term", "score", "pages", "weight", "word"]
        assert lines[1].split("\t") == ["index", "1.000000", "2", f"{log(2) + log(4):.6f}", "index"]
        assert len(lines) == 4
        assert judge.table(2) == judge.table(99)[:2]


class TestSpelling:
    DOCS = ("libraries library libraries hunting", "library catalogues", "hunters hunting spiders")

    def test_people_read_words_and_no_stems(self, tmp_path: Path) -> None:
        judge = make(tmp_path, self.DOCS, accept=0)
        expected = {
            "libraries",
            "hunting",
            "catalogues",
            "hunters",
            "spiders",
        }  # the first page that has a term spells it
        assert {word for word, _ in judge.table(9)} == expected
        assert {word for word, _ in judge.describe(9)[0][1]} == expected
        assert set(judged(judge, "a library catalogue").why) == {"libraries", "catalogues"}

    def test_a_page_that_joins_spells_its_new_terms(self, tmp_path: Path) -> None:
        judge = make(tmp_path, self.DOCS, accept=0)
        judged(judge, "a library of galaxies", title="Galaxies")
        assert "galaxies" in judged(judge, "galaxy").why

    def test_spellings_are_saved(self, tmp_path: Path) -> None:
        before, after = make(tmp_path, self.DOCS, accept=0), make(tmp_path, self.DOCS, accept=0)
        judged(before, "a library of galaxies")
        state = msgspec.json.decode(msgspec.json.encode(before.save()))
        after.load(state)
        assert after.table(99) == before.table(99)
        del state["words"]
        after.load(state)
        assert "galaxi" in dict(after.table(99))

    def test_a_written_table_has_both(self, tmp_path: Path) -> None:
        make(tmp_path, self.DOCS).write_tsv(tmp_path / "table.tsv")
        rows = [line.split("\t") for line in (tmp_path / "table.tsv").read_text(encoding="utf-8").splitlines()]
        assert {(row[0], row[-1]) for row in rows} >= {("term", "word"), ("librari", "libraries")}

    def test_terms_that_are_forgotten_take_their_words_along(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lycosa.judge.tids.MOST_TERMS", 6)
        table = Table()
        for text in (
            ["libraries", "hunters"],
            ["libraries", "galaxies", "catalogues"],
            ["hunters", "puppies", "cities"],
        ):
            table.add(Counter(map(stem_of, text)), text)
        table.add(Counter(["berri"]), ["berries"])
        assert len(table.words) == len(table.terms) == 4
        assert list(map(stem_of, table.words)) == table.terms


class TestDefaults:
    """What the documentation recommends, so that nobody has to read it first."""

    def test_smooth_and_quantile(self) -> None:
        judge = Tids("pages")
        assert (judge.idf, judge.accept, judge.accept_quantile) == ("smooth", "quantile", 0.5)

    def test_what_all_examples_share_brings_a_page_in(self, tmp_path: Path) -> None:
        own = [f"spider silk burrow hunts{number} lens{number} egg{number}" for number in range(8)]
        defaults = {name: getattr(Tids("pages"), name) for name in PUBLISHED}
        assert judged(make(tmp_path, own, **defaults), "spider silk burrow prey forest").on_topic
        assert not judged(make(tmp_path, own), "spider silk burrow prey forest").on_topic


class TestInput:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("accept", -1.0),
            ("accept", 101),
            ("accept", float("nan")),
            ("accept_quantile", 1.5),
            ("refresh", 0),
            ("examples", "nowhere"),
            ("examples", ""),
        ],
    )
    def test_bad_values_are_named(self, tmp_path: Path, key: str, value: Any) -> None:
        with pytest.raises(BadInput, match=rf"^topic\.{key}: "):
            make(tmp_path, **{key: value})

    @pytest.mark.parametrize("options", [{"measure": "jaccard"}, {"idf": "x"}, {"accept": "max"}, {"grow": 1}])
    def test_types_are_checked_when_it_is_built(self, tmp_path: Path, options: dict[str, Any]) -> None:
        with pytest.raises(msgspec.ValidationError):
            make(tmp_path, **options)

    def test_too_few_examples_are_refused(self, tmp_path: Path) -> None:
        for docs in ([], ["crawler"], ["crawler", "", "of the"]):
            with pytest.raises(BadInput, match=r"^topic\.examples: relevant has [01] pages with text"):
                make(tmp_path, docs)

    def test_examples_that_are_all_alike_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"^topic\.examples: .*smooth"):
            make(tmp_path, ["web crawler", "crawler web"])
        assert make(tmp_path, ["web crawler", "crawler web"], idf="smooth").similarity(["web"]) > 0

    def test_examples_without_a_common_term_have_no_quantile(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"^topic\.accept: "):
            make(tmp_path, ["web crawler", "rain forest", "tin drum"], accept="quantile")

    def test_the_folder_is_read_below_the_crawl_folder(self, tmp_path: Path) -> None:
        asked: list[Path] = []
        (tmp_path / "pages").mkdir()
        judge = Tids("pages")
        judge.prepare(tmp_path, lambda path: asked.append(path) or [(text, page(text)) for text in DOCS])  # type: ignore[func-returns-value]
        assert asked == [tmp_path / "pages"]
        assert repr(judge).startswith("Tids(examples='pages', measure='cosine', idf=")


class TestShards:
    def test_pages_that_join_the_set_of_one_shard_join_that_of_the_other(self, tmp_path: Path) -> None:
        one, other, alone = (make(tmp_path, accept=10) for _ in range(3))
        one.share()
        other.share()
        for text in (FOURTH, "crawlers news web"):
            assert judged(one, text).on_topic
            judged(alone, text)
        judged(one, "garden flower")
        other.study(msgspec.msgpack.decode(msgspec.msgpack.encode(one.lesson())))
        assert other.table_.pages == alone.table_.pages == len(DOCS) + 2
        assert other.save() == alone.save()
        assert (one.lesson(), other.lesson()) == ({}, {})


class TestShippedExample:
    FOLDER = Path(__file__).parents[2] / "examples" / "tids"

    def read(self, folder: Path) -> Iterable[tuple[str, Page]]:
        for path in sorted(folder.iterdir()):
            yield path.name, page(re.sub(r"<title>.*?</title>|<[^>]*>", " ", path.read_text(encoding="utf-8")))

    def test_its_topic_tells_spiders_from_other_things(self) -> None:
        topic = tomllib.loads((self.FOLDER / "crawl.toml").read_text(encoding="utf-8"))["topic"]
        assert topic.pop("kind") == "tids"
        judge = msgspec.convert(topic, Tids)
        judge.prepare(self.FOLDER, self.read)
        assert judge.table_.pages == 12
        assert [term for term, _ in judge.table(2)] == ["spiders", "wolf"]
        assert judged(judge, "The spider hunts at night; the female spider carries her egg sac of silk.").on_topic
        assert not judged(judge, "The council met to talk about the new bridge and who will pay for it.").on_topic


class TestState:
    TEXTS = tuple(" ".join(DOCS[at % 3].split() + [f"x{chr(97 + at % 20)}"] * (at % 4)) for at in range(60))

    def test_a_restart_goes_on_as_if_nothing_had_happened(self, tmp_path: Path) -> None:
        whole, before, after = (make(tmp_path, refresh=7) for _ in range(3))
        assert isinstance(whole, Stateful)
        expected = [judged(whole, text) for text in self.TEXTS]
        for text in self.TEXTS[:40]:
            judged(before, text)
        after.load(msgspec.json.decode(msgspec.json.encode(before.save())))
        assert [judged(after, text) for text in self.TEXTS[40:]] == expected[40:]
        assert after.save() == whole.save()
        assert whole.table_.pages > 3

    def test_saved_state_does_not_change_afterwards(self, tmp_path: Path) -> None:
        judge = make(tmp_path, accept=0)
        state = judge.save()
        before = msgspec.json.encode(state)
        judged(judge, FOURTH)
        assert msgspec.json.encode(state) == before

    def test_a_changed_bound_is_obeyed_after_a_restart(self, tmp_path: Path) -> None:
        before, after = make(tmp_path), make(tmp_path, accept=12)
        judged(before, "crawler web index")
        after.load(before.save())
        assert after.bound_ == 12
        assert after.table_.pages == 4

    def test_a_changed_measure_starts_anew(self, tmp_path: Path) -> None:
        before, after = make(tmp_path), make(tmp_path, measure="mean")
        judged(before, "crawler web index")
        bound = after.bound_
        after.load(before.save())
        assert (after.bound_, after.table_.pages) == (bound, 3)
