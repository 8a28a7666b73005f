"""What an experiment knows of a web: nothing that is learned from is measured."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.judge.taxonomy import Taxonomy
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.reproduce.testbed import (
    OTHER,
    Generated,
    Reader,
    Recording,
    Remembered,
    Request,
    chosen,
    drawn,
    open_testbed,
    site,
    teach,
    told,
)
from lycosa.lab.webs import GeneratedPages
from lycosa.types import BadInput, Page


def test_a_directory_lists_the_home_pages_of_a_topic(small: GeneratedWeb) -> None:
    ground = Generated(small)
    listed = ground.listed("cooking")
    assert len(listed) == 10
    assert all(url.endswith("/") and ground.truth(url) == "cooking" for url in listed)
    assert all(ground.web.page(url) == url for url in listed)


def test_examples_are_of_the_topic_and_not_of_the_web_that_is_crawled(small: GeneratedWeb) -> None:
    ground = Generated(small)
    found = ground.examples("music", 8)
    assert len(found) == 8
    assert len({url for url, _ in found}) == 8
    crawled = set(ground.web.pages())
    assert not [url for url, _ in found if url in crawled and url.count("/") > 3]
    assert all(page.words for _, page in found)
    assert found == Generated(small).examples("music", 8)


def test_what_lies_beyond_an_example_is_of_its_own_web(small: GeneratedWeb) -> None:
    ground = Generated(small)
    (_, page), *_ = ground.examples("music", 1)
    behind = list(ground.beyond(page, 3))
    assert 1 <= len(behind) <= 3
    assert all(linked.words for _, linked in behind)
    linked_to = {link.url for link in page.links}
    assert {name for name, _ in behind} <= linked_to


def test_too_few_pages_of_a_topic_end_the_search(small: GeneratedWeb) -> None:
    assert 50 < len(Generated(small).examples("music", 150)) < 120


def test_topics_are_drawn_by_lot_and_always_the_same(small: GeneratedWeb) -> None:
    ground = Generated(small)
    assert chosen(Request(), ground, 2) == chosen(Request(), ground, 2)
    assert len(chosen(Request(), ground, 3)) == 3
    assert sorted(drawn(ground, "music", 0)) == sorted(ground.listed("music"))
    assert drawn(ground, "music", 0) == drawn(ground, "music", 0) != drawn(ground, "music", 1)


def test_the_web_of_the_experiments_is_told_in_words() -> None:
    assert f"{site(0).pages:,} pages" in " ".join(told().split())


def test_labels_make_a_terrain(school: Any) -> None:
    ground = Recording(school.request())
    assert ground.classes == ["astronomy", "cooking", "medicine", OTHER]
    assert ground.truth("http://school.example/cooking/1") == "cooking"
    assert ground.truth("http://school.example/") == OTHER
    assert ground.truth("http://elsewhere.example/") == ""


def test_half_of_a_label_teaches_and_is_never_listed(school: Any) -> None:
    ground = Recording(school.request())
    taught = {url for url, _ in ground.examples("cooking", 100)}
    listed = set(ground.listed("cooking"))
    assert len(taught) == len(listed) == 6
    assert not taught & listed
    assert len(ground.examples("cooking", 2)) == 2


def test_other_recordings_teach_instead(school: Any, warcs: Any, tmp_path: Path) -> None:
    other = warcs.pages(
        "other.warc.gz", {"http://b.example/x": "<title>x</title>soup <a href='/y'>y</a>", "http://b.example/y": "y"}
    )
    labels = tmp_path / "other.tsv"
    labels.write_text("http://b.example/x\tcooking\n", encoding="utf-8")
    ground = Recording(school.request(train=((str(other), str(labels)),)))
    ((url, page),) = ground.examples("cooking", 5)
    assert url == "http://b.example/x"
    assert [name for name, _ in ground.beyond(page, 5)] == ["http://b.example/y"]
    assert len(ground.listed("cooking")) == 12


def test_what_is_worth_looking_for(school: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Recording(school.request(target=("cooking",))).targets() == ["cooking"]
    assert Recording(school.request()).targets() == []
    with pytest.raises(BadInput, match=r"no label of .* has 20 pages"):
        chosen(school.request(), Recording(school.request()), 3)
    monkeypatch.setattr("lycosa.lab.reproduce.testbed.LEAST_PAGES", 3)
    assert Recording(school.request()).targets() == ["astronomy", "cooking", "medicine"]


def test_bad_input_is_named(school: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--labels: a file"):
        Recording(Request(web=str(school.web)))
    with pytest.raises(BadInput, match="no page has the label 'musik'"):
        Recording(school.request(target=("musik",))).targets()
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("http://elsewhere.example/\tx\n", encoding="utf-8")
    with pytest.raises(BadInput, match="none of its URLs"):
        Recording(Request(web=str(school.web), labels=str(wrong)))
    with pytest.raises(BadInput, match="no such file"):
        Recording(Request(web=str(tmp_path / "none.warc"), labels=str(wrong)))


def test_a_terrain_is_opened_once(small: GeneratedWeb, school: Any) -> None:
    assert open_testbed(Request(), small) is open_testbed(Request(), small)
    assert isinstance(open_testbed(school.request(), small), Recording)


def test_a_reader_passes_over_what_cannot_be_read(warcs: Any) -> None:
    web = warcs.web(
        {
            "http://a.example/": "<title>A</title>",
            "http://a.example/moved": warcs.moved("http://a.example/"),
            "http://a.example/gone": warcs.http(b"", "404 Not Found"),
        }
    )
    read = Reader(web)
    assert read("http://a.example/").title == "A"  # type: ignore[union-attr]
    assert read("http://a.example/moved").title == "A"  # type: ignore[union-attr]
    assert read("http://a.example/gone") is None
    assert read("http://a.example/never") is None


def test_teaching_needs_two_labels(small: GeneratedWeb) -> None:
    ground = Generated(small)
    judge = Taxonomy(examples="", target=["music"])
    with pytest.raises(BadInput, match="two labels"):
        teach(judge, [("x", "music", Page(words=["guitar"]))])
    lessons = [(url, label, page) for label in ("music", "cooking") for url, page in ground.examples(label, 6)]
    teach(judge, lessons)
    assert judge.classifier_.labels == ["cooking", "music"]
    assert judge.focus_.target.tolist() == [False, True]


def test_a_page_of_a_web_that_is_crawled_again_is_made_once() -> None:
    made = site(3)
    kept, plain = Remembered(made), GeneratedPages(made)
    url = kept.seeds(1)[0]
    assert kept.get(url) is kept.get(url)
    assert kept.get(url) == plain.get(url)
    assert kept.get("http://nowhere.example/") == plain.get("http://nowhere.example/")
