"""Judges of the lab: from other webs, from a crawl's topic or from a few pages; trained once, the same each time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.judges import Judging, Makers, judge_of
from lycosa.lab.tasks import Comparison, Plan, Task, complete
from lycosa.lab.webs import open_web
from lycosa.strategy import rule_base
from lycosa.types import BadInput, Page

H = "http://a.example"
COURSE, PERSON = "lecture homework exam syllabus grading", "family hobbies photo resume garden"


@pytest.fixture
def web(warcs: Any, tmp_path: Path) -> Path:
    pages = {f"{H}/c{number}": f"<title>c</title>{COURSE} {number}" for number in range(6)}
    pages |= {f"{H}/p{number}": f"<title>p</title>{PERSON} {number}" for number in range(6)}
    warcs.pages("web.warc.gz", pages)
    labels = [f"{url}\t{'course' if '/c' in url else 'person'}\n" for url in pages]
    (tmp_path / "web.tsv").write_text("".join(labels))
    return tmp_path


def plan(folder: Path, **more: Any) -> Plan:
    given: dict[str, Any] = {"labels": "web.tsv", "target": ["course"], "train": ["web.warc.gz:web.tsv"]} | more
    task = Task(name="x", web="web.warc.gz", seeds=[f"{H}/c1"], model="nb", **given)
    return complete(Comparison(task=[task]), folder)


def relevance(judging: Judging, text: str) -> float:
    verdict = asyncio.run(judge_of(judging).judge(Page(words=text.split())))
    return float(verdict.relevance)


@pytest.mark.parametrize("kind", ["examples", "taxonomy"])
class TestTrained:
    def test_tells_pages_apart(self, web: Path, kind: str) -> None:
        made = Makers(web / "out").trained(plan(web).tasks[0], web, kind)
        assert relevance(made, COURSE) > 0.5 > relevance(made, PERSON)

    def test_once(self, web: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        makers, task = Makers(web / "out"), plan(web).tasks[0]
        first = makers.trained(task, web, kind)
        stamp = Path(first.model).stat().st_mtime_ns
        assert makers.trained(task, web, kind) == first
        assert Path(first.model).stat().st_mtime_ns == stamp

    def test_another_target_is_the_same_model(self, web: Path, kind: str) -> None:
        makers = Makers(web / "out")
        one = makers.trained(plan(web).tasks[0], web, kind)
        other = makers.trained(plan(web, target=["person"]).tasks[0], web, kind)
        assert one.model == other.model
        assert relevance(other, PERSON) > 0.5 > relevance(other, COURSE)

    def test_other_pages_are_another_model(self, web: Path, kind: str) -> None:
        makers, task = Makers(web / "out"), plan(web).tasks[0]
        one = makers.trained(task, web, kind)
        labels = web / "web.tsv"
        labels.write_text(labels.read_text().replace("/c5\tcourse", "/c5\tperson"))
        assert makers.trained(task, web, kind).model != one.model

    def test_rules_are_mined_once_and_anew_if_an_older_version_did(self, web: Path, kind: str) -> None:
        mined: list[str] = []

        def mine(judge: Any, folder: Path) -> rule_base.RuleBase:
            mined.append(judge.KIND)
            return rule_base.RuleBase(["course", "person"], {"person": {"course": 1}})

        makers = Makers(web / "out", mine)
        judging = makers.trained(plan(web).tasks[0], web, kind)
        for _ in range(2):
            makers.with_rules(judging)
        assert mined == [kind]
        path = Path(judging.home) / rule_base.NAME
        assert rule_base.load(path).counts == {"person": {"course": 1}}
        path.write_text('{"format": 2, "classes": ["course"], "words": {}}')
        makers.with_rules(judging)
        assert mined == [kind, kind]
        assert rule_base.load(path).format == rule_base.FORMAT


class TestOthers:
    def test_a_target_that_the_model_does_not_know(self, web: Path) -> None:
        makers = Makers(web / "out")
        made = makers.trained(plan(web).tasks[0], web, "examples")
        wrong = Judging(made.options | {"target": ["staff"]}, made.folder, made.home, made.model)
        with pytest.raises(BadInput, match=r"target: none of staff is a label of the examples \(there are: course"):
            judge_of(wrong)

    def test_a_topic_without_training_is_made_anew(self, web: Path) -> None:
        (web / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["lecture", "exam"]\n')
        made = Makers(web / "out").of_config(web)
        assert (made.model, made.home) == ("", str(web))
        assert relevance(made, COURSE) > relevance(made, PERSON) == 0.0
        assert judge_of(made) is not judge_of(made)

    def test_a_sentence_is_judged_from_what_it_says(self, web: Path) -> None:
        given = plan(web, train=[], sentence="The syllabus and the homework of a lecture.")
        made = Makers(web / "out").main(given.tasks[0], given, open_web("web.warc.gz", web), {})
        assert relevance(made, COURSE * 3) > relevance(made, PERSON * 3)
        with pytest.raises(BadInput, match="by one of `train`, `topic`, `sentence` and"):
            plan(web, sentence="Lectures.")

    def test_a_file_without_topic(self, web: Path) -> None:
        (web / "crawl.toml").write_text("seeds = []\n")
        with pytest.raises(BadInput, match="topic: this section is needed"):
            Makers(web / "out").of_config(web)

    def test_drawn_examples_are_kept_as_a_web_of_their_own(self, web: Path) -> None:
        given = plan(web, train=[], examples_from_targets=2)
        drawn = {f"{H}/c1": "positive", f"{H}/c2": "positive", f"{H}/p1": "other", f"{H}/p2": "other"}
        made = Makers(web / "out").main(given.tasks[0], given, open_web("web.warc.gz", web), drawn)
        assert open_web("lycosa-00001.warc.gz", Path(made.folder)).pages() == list(drawn)
        assert relevance(made, COURSE) > 0.5 > relevance(made, PERSON)

    def test_a_generated_web_is_judged_by_the_words_of_its_topic(self, tmp_path: Path) -> None:
        task = Task(name="g", web="generated:pages=20,hosts=2", target=["music"])
        given = complete(Comparison(task=[task]), tmp_path)
        made = Makers(tmp_path).main(given.tasks[0], given, open_web(task.web), {})
        assert relevance(made, "guitar piano violin concert") > 0.3
        assert relevance(made, "court judge lawyer verdict") == 0.0
