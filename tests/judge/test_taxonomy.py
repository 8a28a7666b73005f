"""The topic `taxonomy`: a tree of classes, small ones merged upwards, targets that are leaves or whole branches."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa.judge import model_file as files
from lycosa.judge import training
from lycosa.judge.taxonomy import Taxonomy, merge
from lycosa.text import words
from lycosa.types import BadInput, Page, TextRelevance, Verdict

SHIPPED = Path(__file__).parents[2] / "examples" / "taxonomy"
TREE = {
    "Top.Science.Physics": "quantum energy particle momentum gravity photon".split(),
    "Top.Science.Biology": "cell protein enzyme species evolution genome".split(),
    "Top.Arts.Music": "violin sonata melody harmony opera concert".split(),
    "Top.Arts.Painting": "canvas brush portrait pigment gallery fresco".split(),
}
COMMON = "people time year good great make find look work place small large world day".split()


def text_on(subject: str, random: Random, size: int = 40) -> str:
    return " ".join(random.choice(TREE[subject] if random.random() < 0.4 else COMMON) for _ in range(size))


def pages(number: int = 8, **odd: int) -> list[tuple[str, Page]]:
    """As a reader gives them for nested folders."""
    random = Random(1)
    return [
        (f"{label.replace('.', '/')}/{count}.html", Page(words=words(text_on(label, random))))
        for label in TREE
        for count in range(odd.get(label.rpartition(".")[2], number))
    ]


def make(folder: Path, found: list[tuple[str, Page]], **options: Any) -> Taxonomy:
    (folder / "tree").mkdir(exist_ok=True)
    judge = msgspec.convert({"examples": "tree", "min_pages": 3, **options}, Taxonomy)
    judge.prepare(folder, lambda path: found)
    return judge


def judged(judge: Taxonomy, text: str) -> Verdict:
    return asyncio.run(judge.judge(Page(words=words(text))))


def test_a_page_gets_the_probability_of_every_class(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Science.Physics"])
    random = Random(2)
    for label in TREE:
        found = judged(judge, text_on(label, random))
        assert found.label == label
        assert set(found.classes) == set(TREE)
        assert sum(found.classes.values()) == pytest.approx(1)
        assert max(found.classes, key=found.classes.__getitem__) == label
        assert found.relevance == pytest.approx(found.classes["Top.Science.Physics"])
        assert found.on_topic == (label == "Top.Science.Physics")


def test_an_inner_node_means_all_below_it(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Science"])
    found = judged(judge, "quantum cell energy protein")
    assert found.on_topic
    below = found.classes["Top.Science.Physics"] + found.classes["Top.Science.Biology"]
    assert found.relevance == pytest.approx(below)
    assert judge.targets(sorted(TREE)) == ["Top.Science.Biology", "Top.Science.Physics"]


def test_a_name_that_only_begins_alike_is_not_below(tmp_path: Path) -> None:
    odd = [(name.replace("Science/Biology", "Sciences/Biology"), page) for name, page in pages()]
    judge = make(tmp_path, odd, target=["Top.Science"])
    assert judge.targets(judge.classifier_.labels) == ["Top.Science.Physics"]


def test_several_targets_are_added(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Science.Physics", "Top.Arts"])
    found = judged(judge, "quantum violin canvas")
    assert found.relevance == pytest.approx(1 - found.classes["Top.Science.Biology"])


def test_hard_focus_asks_for_the_best_class_and_half_the_probability(tmp_path: Path) -> None:
    random = Random(3)
    two, one = (
        make(tmp_path, pages(), target=target)
        for target in (["Top.Science.Physics", "Top.Science.Biology"], ["Top.Science.Physics"])
    )
    for _ in range(30):
        text = " ".join(random.choice(random.choice(list(TREE.values()))) for _ in range(4))
        for judge in (two, one):
            found = judged(judge, text)
            best_is_target = found.label in judge.targets(list(TREE))
            assert found.on_topic == (best_is_target and found.relevance >= 0.5)


def test_a_few_words_are_judged_too(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Science"], fields={})
    assert isinstance(judge, TextRelevance)
    assert judge.relevance_of(["quantum", "cell"]) == pytest.approx(judged(judge, "quantum cell").relevance, rel=1e-4)
    assert judge.relevance_of(["quantum"]) > judge.relevance_of([]) > judge.relevance_of(["violin"])


def test_reasons_are_words_with_sign(tmp_path: Path) -> None:
    found = judged(make(tmp_path, pages(), target=["Top.Science"]), "quantum photon violin")
    assert found.why["quantum"] > 0 > found.why["violin"]


def test_small_classes_go_into_their_parent(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(Music=2, Painting=2), target=["Top.Arts"])
    assert judge.classifier_.labels == ["Top.Arts", "Top.Science.Biology", "Top.Science.Physics"]
    assert judged(judge, "violin canvas opera").label == "Top.Arts"
    assert judge.class_of("Top.Arts.Music", judge.classifier_.labels) == "Top.Arts"
    assert judge.class_of("Top/Science/Physics/Optics", judge.classifier_.labels) == "Top.Science.Physics"
    assert judge.class_of("Elsewhere", judge.classifier_.labels) == ""


def test_merge_goes_up_until_a_class_is_large_enough() -> None:
    labels = ["T.A.x"] * 2 + ["T.A.y"] * 5 + ["T.B.z"] * 1 + ["T.C"] * 1 + ["T.A"] * 1
    merged = Counter(merge(labels, 3))
    assert merged == {"T.A.y": 5, "T.A": 3, "T": 2}


def test_what_has_no_parent_stays() -> None:
    assert merge(["a", "b", "b"], 150) == ["a", "b", "b"]


LABELS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join), min_size=1, max_size=60
)  # fmt: skip


@given(LABELS, st.integers(1, 10))
def test_merging_keeps_pages_on_their_branch_and_leaves_no_small_class(labels: list[str], least: int) -> None:
    merged = merge(labels, least)
    for label, into in zip(labels, merged, strict=True):
        assert f"{label}.".startswith(f"{into}.")
    for label, size in Counter(merged).items():
        assert size >= least or "." not in label
    assert merge(labels, 1) == labels
    assert merge(merged, least) == merged


def test_a_labels_file_may_write_slashes(tmp_path: Path) -> None:
    found = [(f"http://h/{number}", page) for number, (_, page) in enumerate(pages())]
    lines = [f"http://h/{number}\t{name.rpartition('/')[0]}" for number, (name, _) in enumerate(pages())]
    (tmp_path / "w.warc").touch()
    (tmp_path / "w.tsv").write_text("\n".join(lines))
    judge = Taxonomy("w.warc", ["Top.Arts"], "w.tsv", min_pages=3)
    judge.prepare(tmp_path, lambda path: found)
    assert judge.classifier_.labels == sorted(TREE)


def test_fitted_posteriors_are_softer_than_the_textbook_ones(tmp_path: Path) -> None:
    """Words that come in pairs are counted twice by the textbook; the fitted temperature takes that back."""
    random = Random(4)
    found = []
    for label in TREE:
        for count in range(30):
            own = TREE[label] if random.random() < 0.7 else random.choice(list(TREE.values()))
            text = " ".join(f"{word} {word} {word}" for word in random.choices(own + COMMON, k=12))
            found.append((f"{label.replace('.', '/')}/{count}.html", Page(words=words(text))))
    honest = make(tmp_path, found, target=["Top.Arts"], weights="counts")
    textbook = make(tmp_path, found, target=["Top.Arts"], weights="counts", temperature=1)
    texts = [text_on(label, random, 12) for label in TREE for _ in range(10)]
    soft, hard = ([judged(judge, text) for text in texts] for judge in (honest, textbook))
    assert np.mean([max(verdict.classes.values()) for verdict in soft]) < np.mean(
        [max(verdict.classes.values()) for verdict in hard]
    )


def test_counts_at_temperature_one_are_bayes_rule(tmp_path: Path) -> None:
    """P(class | page) by hand: two classes, two words, smoothing 0.1."""
    found = [
        ("a/1.html", Page(words=["sun", "sun", "moon"])),
        ("a/2.html", Page(words=["sun"])),
        ("b/1.html", Page(words=["moon", "moon", "sun"])),
    ]
    judge = make(tmp_path, found, target=["a"], min_pages=1, fields={}, weights="counts", temperature=1)
    a = 2.1 / 3.2 * (3.1 / 4.2) * (1.1 / 4.2) ** 2
    b = 1.1 / 3.2 * (1.1 / 3.2) * (2.1 / 3.2) ** 2
    assert judged(judge, "sun moon moon").relevance == pytest.approx(a / (a + b), rel=1e-4)


def test_more_classes_keep_more_terms(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Arts"], features_per_class=2)
    assert len(judge.classifier_.facts.terms) == 8
    everything = make(tmp_path, pages(), target=["Top.Arts"], features_per_class=0)
    assert len(everything.classifier_.facts.terms) > 30


def test_saved_and_loaded_it_judges_alike(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Arts"])
    training.make(judge, tmp_path, lambda path: pages()).save(tmp_path / files.NAME, judge.KIND)
    again = make(tmp_path, [], target=["Top.Arts"])
    assert judged(again, "violin canvas cell") == judged(judge, "violin canvas cell")
    assert again.describe(4) == judge.describe(4)


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    judge = make(tmp_path, pages(), target=["Top.Arts"])
    training.make(judge, tmp_path, lambda path: pages()).save(tmp_path / files.NAME, "examples")
    with pytest.raises(BadInput, match=r"topic.model: holds a model of kind 'examples', not 'taxonomy'"):
        make(tmp_path, pages(), target=["Top.Arts"])


def test_an_unknown_target_names_the_classes(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"topic.target: no class 'Top.Sport' in tree \(there are: Top.Arts.Music, .*3 pages"
    ):
        make(tmp_path, pages(), target=["Top.Sport"])


def test_a_target_that_was_merged_away_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no class 'Top.Arts.Music' .*fewer than 3 pages is merged into its parent"):
        make(tmp_path, pages(Music=2), target=["Top.Arts.Music"])


def test_no_target_and_every_class_a_target_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"topic.target: say which classes are on topic"):
        make(tmp_path, pages(), target=[])
    with pytest.raises(BadInput, match=r"topic.target: every class is a target"):
        make(tmp_path, pages(), target=["Top"])


def test_a_long_list_of_classes_is_cut(tmp_path: Path) -> None:
    found = [(f"c{number:03}/1.html", Page(words=["sun", "moon"])) for number in range(60)]
    with pytest.raises(BadInput, match=r"c019, \.\.\.; ") as caught:
        make(tmp_path, found, target=["x"], min_pages=1)
    assert "c020" not in str(caught.value)


def test_too_few_classes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"topic.examples: only the class 'Top' in tree after merging .* 150 pages"):
        make(tmp_path, pages(), target=["Top"], min_pages=150)
    with pytest.raises(BadInput, match=r"topic.examples: no class in tree"):
        make(tmp_path, [], target=["Top"])


@pytest.mark.parametrize(
    "options",
    [{"temperature": 0}, {"temperature": "warm"}, {"weights": "binary"}, {"min_pages": 0}, {"threshold": 0}],
    ids=str,
)
def test_wrong_options_do_not_convert(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"examples": "tree", "target": ["a"], **options}, Taxonomy)


def test_the_target_must_be_given() -> None:
    with pytest.raises(msgspec.ValidationError, match="target"):
        msgspec.convert({"examples": "tree"}, Taxonomy)


def read(path: Path) -> Iterator[tuple[str, Page]]:
    for file in sorted(path.rglob("*.html")):
        tree = LexborHTMLParser(file.read_text())
        assert tree.body
        title = tree.css_first("title")
        assert title
        text = tree.body.text(separator=" ")
        yield file.relative_to(path).as_posix(), Page(title=title.text(), words=words(text))


def test_the_shipped_example_works() -> None:
    judge = Taxonomy("tree", ["science"], min_pages=3)
    judge.prepare(SHIPPED, read)
    found = judged(judge, "The lava of the volcano cooled to rock, and its crystals are minerals of the crust.")
    assert found.on_topic
    assert found.label == "science.geology"
    assert judged(judge, "Thread the warp through the heddle of the loom and beat the weft.").label == "crafts.weaving"
    results = [result for part in training.cross_validate(judge, judge.corpus(SHIPPED, read), 5, 0) for result in part]
    assert np.mean([label == verdict.label for label, verdict in results]) > 0.7
