"""The relevance of a page to a map: the published numbers, the state that survives, and what a person gets told."""

import asyncio
import tomllib
from math import log10
from pathlib import Path

import msgspec
import pytest

from lycosa.judge.ontology import Ontology, read_idf
from lycosa.ontology.weights import Weights
from lycosa.text import words
from lycosa.types import BadInput, Link, Page, Reply, Stateful, Visit

FOLDER = Path(__file__).parents[1] / "ontology" / "cars"
NAMES = ["Japanese car", "Kiichiro Toyoda", "TMM Inc.", "Toyota", "Avensis", "Corolla", "Corolla Verso"]


def judge(folder=FOLDER, **options):
    made = msgspec.convert({"file": "cars.xtm", "focus": ["Toyota"], **options}, Ontology)
    made.prepare(folder, lambda path: [])
    return made


def verdict(made, text, title=""):
    page = Page(text=text, title=title, words=words(text))
    verdict = asyncio.run(made.judge(page))
    made.learn(Visit(Reply(Link("http://x/")), page, verdict, digest="x"))
    return verdict


def frozen(tmp_path, pages, **counts):
    """Options for a judge of the cars whose counts are these."""
    (tmp_path / "cars.xtm").write_bytes((FOLDER / "cars.xtm").read_bytes())
    (tmp_path / "idf").write_text(
        "".join([f"{pages}\n", *(f"{df}\t{id.replace('_', '-')}\n" for id, df in counts.items())])
    )
    return {"folder": tmp_path, "idf": "idf", "smoothing": [0, 0]}


class TestThePublishedNumbers:
    def test_the_weights(self):
        assert sum(judge().weights_.values()) == pytest.approx(4.1)
        assert sum(judge(focus=["TMM Inc.", "corolla"]).weights_.values()) == pytest.approx(4.3)

    @pytest.mark.parametrize(("df", "idf"), [(6_000, 0.921), (25_000, 0.301)])
    def test_idf_has_base_10(self, tmp_path, df, idf):
        made = judge(**frozen(tmp_path, 50_000, toyota=df), tf_scope="topics")
        assert verdict(made, "toyota").relevance * 4.1 == pytest.approx(idf, abs=5e-4)

    def test_relevance_over_topics_and_over_all_words(self, tmp_path):
        options = frozen(tmp_path, 100, toyota=10, corolla=1)  # idf 1 and 2
        text = "toyota " * 4 + "corolla " * 2 + "engine " * 20
        assert verdict(judge(**options, tf_scope="topics"), text).relevance == pytest.approx(0.439024, abs=5e-7)
        assert verdict(judge(**options, tf_scope="words"), text).relevance == pytest.approx(0.087805, abs=5e-7)
        assert verdict(judge(**options), text.replace("engine", "the")).relevance == pytest.approx(0.439024, abs=5e-7)

    def test_one_mention_of_the_focus(self, tmp_path):
        options = frozen(tmp_path, 50_000, toyota=25_000)
        text = "toyota " + "engine " * 20
        one = verdict(judge(**options, tf_scope="topics"), text)
        assert one.relevance == pytest.approx(0.0734, abs=5e-5)
        assert one.on_topic
        other = verdict(judge(**options), text)
        assert other.relevance == pytest.approx(0.00367, abs=5e-6)
        assert not other.on_topic

    def test_relevance_may_pass_1_and_is_told_as_1(self, tmp_path):
        ids = ("japanese_car", "kiichiro_toyoda", "tmm", "toyota", "avensis", "corolla", "corolla_verso")
        made = judge(**frozen(tmp_path, 100, **dict.fromkeys(ids, 1)), limit=1.99)
        found = verdict(made, ". ".join(NAMES))
        # the words of the names come as often as twice: toyota and corolla in other names are no mentions of their own
        assert found.relevance == pytest.approx(2.0 / 2)
        made = judge(**frozen(tmp_path, 100, **dict.fromkeys(ids, 1)), limit=1.99, tf_scope="topics")
        found = verdict(made, ". ".join(NAMES))
        assert found.relevance == 1.0
        assert found.on_topic
        assert sum(found.why.values()) == pytest.approx(2.0)

    def test_the_first_page_as_published_and_as_we_do(self):
        assert verdict(judge(smoothing=[0, 0]), "toyota").relevance == 0.0
        assert verdict(judge(), "toyota").relevance * 4.1 == pytest.approx(1.7033, abs=5e-5)


class TestCounting:
    def test_idf_follows_the_pages_judged(self):
        made = judge(smoothing=[0, 0])
        verdict(made, "nothing here")
        verdict(made, "toyota toyota")
        assert verdict(made, "corolla").relevance * 4.1 == pytest.approx(0.8 * log10(3 / 1))
        assert verdict(made, "toyota").relevance * 4.1 == pytest.approx(1.0 * log10(4 / 2))

    def test_the_longest_name_counts_alone(self):
        made = judge()
        verdict(made, "a Corolla Verso by Toyota Motor Manufacturing")
        assert made.save()["df"] == {"corolla-verso": 1, "tmm": 1}

    def test_the_title_counts_but_no_name_runs_from_it_into_the_text(self):
        made = judge()
        assert list(verdict(made, "verso", title="The Corolla").why) == ["Corolla"]
        assert made.save()["df"] == {"corolla": 1}

    def test_names_in_other_languages_can_be_left_out(self):
        assert verdict(judge(), "ein Japanisches Auto").relevance > 0
        assert verdict(judge(languages=["de"]), "ein Japanisches Auto").relevance > 0
        assert verdict(judge(languages=["de"]), "a Japanese car").relevance > 0, "a name without a language is for all"
        assert verdict(judge(languages=["en"]), "ein Japanisches Auto").relevance == 0

    def test_a_language_covers_its_regions(self, tmp_path):
        (tmp_path / "a.ttl").write_text(
            "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
            '<a:colour> rdfs:label "colour"@en-GB . <a:farbe> rdfs:label "Farbe"@de-AT .'
        )
        made = judge(tmp_path, file="a.ttl", focus=[], languages=["EN", "de-AT"])
        assert set(verdict(made, "colour farbe").why) == {"colour", "Farbe"}

    def test_a_page_that_names_nothing(self):
        assert verdict(judge(), "").relevance == 0
        assert not verdict(judge(), "some words").on_topic
        assert verdict(judge(limit=0), "some words").on_topic

    def test_the_limit_itself_is_on_topic(self):
        exactly = verdict(judge(), "toyota").relevance
        assert verdict(judge(limit=exactly), "toyota").on_topic
        assert not verdict(judge(limit=exactly * 1.0001), "toyota").on_topic

    def test_without_a_focus_all_weigh_the_same(self):
        made = judge(focus=[])
        assert verdict(made, "toyota").relevance == pytest.approx(log10(101 / 2) / 7)


class TestWhy:
    def test_the_concepts_are_named_largest_first_and_add_up(self):
        found = verdict(judge(), "toyota toyota corolla avensis avensis avensis")
        assert list(found.why) == ["Avensis", "Toyota", "Corolla"]
        assert sum(found.why.values()) == pytest.approx(found.relevance)

    def test_no_more_than_ten_are_named(self, tmp_path):
        labels = " ".join(f'<a:t{n}> rdfs:label "word{n}x" .' for n in range(15))
        (tmp_path / "a.ttl").write_text(f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {labels}")
        text = " ".join(f"word{n}x " * (n + 1) for n in range(15))
        found = verdict(judge(tmp_path, file="a.ttl", focus=[]), text)
        assert list(found.why) == [f"word{n}x" for n in range(14, 4, -1)]

    def test_two_concepts_of_one_name_share_a_line(self, tmp_path):
        (tmp_path / "a.ttl").write_text(
            "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
            '<a:planet> rdfs:label "Mercury" . <a:metal> rdfs:label "Mercury" . <a:sun> rdfs:label "Sun" .'
        )
        found = verdict(judge(tmp_path, file="a.ttl", focus=[]), "sun sun sun mercury mercury")
        assert list(found.why) == ["Mercury", "Sun"]
        assert sum(found.why.values()) == pytest.approx(log10(101 / 2) * (1 + 2 / 3 + 2 / 3) / 3)


class TestState:
    def test_it_survives_a_restart(self):
        texts = ["toyota", "corolla verso", "nothing", "toyota avensis", "tmm inc"]
        whole = judge()
        expected = [verdict(whole, text) for text in texts]
        first = judge()
        found = [verdict(first, text) for text in texts[:2]]
        state = msgspec.json.decode(msgspec.json.encode(first.save()))
        second = judge()
        second.load(state)
        assert [*found, *(verdict(second, text) for text in texts[2:])] == expected
        assert second.save() == whole.save()

    def test_it_is_plain_and_small(self):
        made = judge()
        assert isinstance(made, Stateful)
        verdict(made, "toyota")
        assert made.save() == {"pages": 1, "df": {"toyota": 1}}

    def test_concepts_that_are_gone_are_forgotten(self):
        made = judge()
        made.load({"pages": 7, "df": {"toyota": 3, "gone": 5}})
        assert made.save() == {"pages": 7, "df": {"toyota": 3}}

    def test_preparing_starts_afresh_and_constructing_only_stores(self):
        made = judge()
        verdict(made, "toyota")
        made.prepare(FOLDER, lambda path: [])
        assert made.save() == {"pages": 0, "df": {}}
        assert repr(made).startswith("Ontology(file='cars.xtm', focus=['Toyota'], weights=Weights(")
        assert "_=" not in repr(made)


class TestFrozenIdf:
    def test_what_is_written_is_read(self, tmp_path):
        made = judge()
        for text in ("toyota corolla verso", "toyota", "nothing"):
            verdict(made, text)
        made.write_idf(tmp_path / "idf.tsv")
        assert read_idf(tmp_path / "idf.tsv") == (3, {"toyota": 2, "corolla-verso": 1})

    def test_the_same_page_has_the_same_relevance_at_any_time(self, tmp_path):
        made = judge(**frozen(tmp_path, 1_000, toyota=10))
        first = verdict(made, "toyota")
        for _ in range(20):
            verdict(made, "nothing")
        assert verdict(made, "toyota") == first
        assert first.relevance * 4.1 == pytest.approx(2.0)

    def test_a_concept_the_table_never_saw(self, tmp_path):
        options = frozen(tmp_path, 1_000, toyota=10)
        assert verdict(judge(**options), "avensis").relevance * 4.1 == pytest.approx(0.8 * 3.0)
        options["smoothing"] = [100, 1]
        assert verdict(judge(**options), "avensis").relevance * 4.1 == pytest.approx(0.8 * log10(1_100))

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ("", "cannot be read|line 1"),
            ("many\n", "line 1: not a table"),
            ("10\n3\ttoyota\nx\tcorolla\n", "line 3: not a table"),
            ("10\n11\ttoyota\n", "more pages name a concept than there are pages"),
            ("0\n", "more pages name a concept"),
            ("10\n-1\ttoyota\n", "more pages name a concept"),
        ],
    )
    def test_a_table_that_is_none(self, tmp_path, content, problem):
        options = frozen(tmp_path, 1)
        (tmp_path / "idf").write_text(content)
        with pytest.raises(BadInput, match=rf"topic\.idf: .*({problem})"):
            judge(**options)

    def test_a_missing_table(self):
        with pytest.raises(BadInput, match=r"topic\.idf: .*none.*cannot be read"):
            judge(idf="none")


class TestWhatAPersonGetsTold:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"focus": ["toyoda"]}, r"topic.focus: no topic 'toyoda' in cars.xtm \(nearest: Toyota"),
            ({"focus": ["zzz"]}, r"topic.focus: no topic 'zzz' in cars.xtm$"),
            ({"file": "none.xtm"}, r"topic.file: .*none.xtm: no such file"),
            (
                {"weights": {"focus": 0, "hierarchy": 0, "association": 0, "rest": 0}},
                "topic.weights: all concepts have the weight 0",
            ),
            ({"smoothing": [1, 2]}, "topic.smoothing: the first number must not be less"),
        ],
    )
    def test_options_that_cannot_be(self, options, problem):
        with pytest.raises(BadInput, match=problem):
            judge(**options)

    @pytest.mark.parametrize(
        "options",
        [{"limit": -1}, {"tf_scope": "all"}, {"weights": {"focal": 1}}, {"focus": "Toyota"}, {"smoothing": [1]}],
    )
    def test_options_of_a_wrong_kind_are_refused_before(self, options):
        with pytest.raises(msgspec.ValidationError):
            judge(**options)

    def test_a_name_of_two_topics(self, tmp_path):
        (tmp_path / "a.ttl").write_text(
            "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
            '<a:planet> rdfs:label "Mercury" . <a:metal> rdfs:label "Mercury" .'
        )
        with pytest.raises(BadInput, match=r"topic\.focus: 'mercury' means 2 topics of a\.ttl: metal, planet"):
            judge(tmp_path, file="a.ttl", focus=["mercury"])

    def test_a_broken_map_is_named_with_its_line(self, tmp_path):
        (tmp_path / "cars.xtm").write_text("<topicMap>\n<topic>\n</topicMap>")
        with pytest.raises(BadInput, match=r"topic\.file: cars\.xtm:3: mismatched tag"):
            judge(tmp_path)

    def test_languages_that_nothing_is_named_in(self, tmp_path):
        (tmp_path / "a.ttl").write_text('<a:a> <http://www.w3.org/2000/01/rdf-schema#label> "A"@de .')
        with pytest.raises(BadInput, match=r"topic\.languages: no concept of a\.ttl has a name in these languages"):
            judge(tmp_path, file="a.ttl", focus=[], languages=["fr"])

    def test_the_description_names_the_kinds_of_weight(self):
        assert judge().describe(2) == [
            ("focus", [("Toyota", 1.0)]),
            ("hierarchy", [("Japanese car", 0.8), ("Avensis", 0.8)]),
            ("association", [("TMM Inc.", 0.5)]),
            ("rest", [("Kiichiro Toyoda", 0.1), ("Corolla Verso", 0.1)]),
        ]

    def test_the_description_names_what_can_never_be_found(self, tmp_path):
        (tmp_path / "a.ttl").write_text(
            "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
            '<a:it> rdfs:label "IT" . <a:b> rdfs:label "computing" .'
        )
        sections = dict(
            judge(tmp_path, file="a.ttl", focus=[], weights=msgspec.to_builtins(Weights(rest=0.3))).describe(9)
        )
        assert sections["no name to look for"] == [("IT", 0.3)]


def test_the_example_can_be_used(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "ontology"
    options = tomllib.loads((example / "crawl.toml").read_text())["topic"]
    assert options.pop("kind") == "ontology"
    for file in ("birds.xtm", "birds.ttl"):
        made = judge(example, **{**options, "file": file})
        found = verdict(made, "Birders watch lapwings and curlews on the mudflats with a spotting scope.")
        assert found.on_topic
        assert set(found.why) == {"plover", "curlew", "mudflat", "spotting scope"}
        assert not verdict(made, "The stock market rose again on Tuesday, led by banks and insurers.").on_topic
