"""A topic from a program: judge pages, train, test."""

import shutil
from pathlib import Path

import pytest

from lycosa import Page, Topic
from lycosa.types import BadInput

EXAMPLES = Path(__file__).parents[2] / "examples"
HTML = "<title>Galaxies</title><p>The caf\u00e9 near the telescope shows a galaxy, a galaxy and another galaxy."


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "examples", tmp_path / "examples")
    return tmp_path / "examples"


def test_a_page_in_every_form_gets_the_same_verdict(tmp_path: Path) -> None:
    topic = Topic("keywords", words=["galaxy", "telescope"])
    assert topic.kind == "keywords"
    assert repr(topic) == "Topic('keywords', words=['galaxy', 'telescope'])"
    (tmp_path / "page.html").write_text(HTML, encoding="utf-8")
    forms = [HTML, HTML.encode(), tmp_path / "page.html"]
    verdicts = topic.judge_all(forms)
    assert verdicts[0] == verdicts[1] == verdicts[2] == topic.judge(HTML)
    assert verdicts[0].on_topic
    assert "galaxy" in verdicts[0].why
    words = ("galaxy",) * 5
    assert topic.judge(Page(text=" ".join(words), words=words)).relevance > 0.4


async def test_it_works_in_a_running_loop() -> None:
    assert Topic("keywords", words=["galaxy"]).judge(HTML).on_topic


def test_what_cannot_be_judged_or_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"topic.kind: there is no kind 'guess'"):
        Topic("guess")
    with pytest.raises(BadInput, match=r"topic.word: unknown key for keywords"):
        Topic("keywords", word="galaxy")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    with pytest.raises(BadInput, match="a PDF"):
        Topic("keywords", words=["galaxy"]).judge(tmp_path / "a.pdf")


def test_train_and_test(examples: Path) -> None:
    topic = Topic.open(examples)
    report = topic.test(folds=2)
    assert report.pages == 20
    assert report.target.auc is not None
    assert report.target.auc > 0.8
    assert topic.train() == examples / "topic.model"
    assert topic.test(on=examples / "pages").target.recall == 1.0


def test_another_target_counts_for_a_topic_that_has_judged_before(examples: Path) -> None:
    topic = Topic.open(examples)
    assert topic.test(on=examples / "pages").target.recall == 1.0
    report = topic.test(on=examples / "pages", target=["other"])
    assert report.target.recall == 1.0
    assert report.target.precision == 1.0


def test_a_topic_that_is_not_trained_is_tested_on_labelled_pages(examples: Path) -> None:
    topic = Topic("keywords", words=["lighthouse", "lamp", "keeper"])
    labels = sorted(path.name for path in (examples / "pages").iterdir() if path.is_dir())
    report = topic.test(on=examples / "pages", target=labels[:1])
    assert report.pages == 20
    with pytest.raises(BadInput, match="there is nothing to train"):
        topic.train()
    with pytest.raises(BadInput, match="say which to test `on`"):
        topic.test()
    with pytest.raises(BadInput, match="target: say which labels are on topic"):
        topic.test(on=examples / "pages")
    with pytest.raises(BadInput, match="target guess: no page has this label"):
        topic.test(on=examples / "pages", target=["guess"])
    with pytest.raises(BadInput, match="neither WARC:LABELS nor a folder"):
        topic.test(on="nowhere", target=["x"])
