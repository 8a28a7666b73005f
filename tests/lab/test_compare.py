"""The same comparison gives the same results; what is done is not done again; nobody sees a page before fetching it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa import config
from lycosa.errors import ConfigError
from lycosa.lab import compare as comparing
from lycosa.lab import prepare, report, results
from lycosa.lab.answer import Answer
from lycosa.lab.compare import Job, compare
from lycosa.lab.judges import Judging, judge_of
from lycosa.lab.metrics import area_under_recall
from lycosa.lab.one import crawl_web
from lycosa.lab.results import Results, encode, value_at
from lycosa.lab.tasks import Comparison, Plan, Task, complete, load
from lycosa.lab.webs import open_web
from lycosa.parse import Parsers
from lycosa.strategy.rule_base import RuleBase
from lycosa.types import BadInput, Link, Reply, Visit

WEB = "generated:pages=150,hosts=10,seed=3,size_bytes=400-900,count=4-9,redirects=0.1,duplicates=0.05,failing=true"
EVERY = ["best-first", "link-context", "opic", "otie", "hard-focus", "ontology"]
TOPICS = {
    "course": "lecture homework syllabus exam semester assignment textbook grading".split(),
    "person": "family hobbies resume advisor thesis photo music travel".split(),
    "other": "department building campus office parking map phone visitors".split(),
}
H = "http://a.example"


def generated(*targets: str, pages: int = 40, **more: Any) -> Plan:
    tasks = [Task(name=target, web=WEB, target=[target]) for target in targets]
    return complete(Comparison(task=tasks, pages=pages, **{"strategies": ["best-first", "otie"]} | more), Path())


def without_times(path: Path) -> bytes:
    return path.read_bytes().rpartition(b',\n"timings"')[0]


def html(label: str, number: int, *targets: str) -> str:
    words = TOPICS[label][number % 8 :] + TOPICS[label][: number % 8]
    anchors = "".join(f"<p>{TOPICS[target.split('-')[0]][0]} <a href='/{target}'>see</a>" for target in targets)
    return f"<title>{words[0]}</title><p>{' '.join(words)} {label[0]}{number}</p>{anchors}"


@pytest.fixture
def recorded(warcs: Any, tmp_path: Path) -> Path:
    """Two webs, of the same classes: one to learn from, one to crawl."""
    for web in ("train", "test"):
        names = [f"{label}-{number}" for number in range(8) for label in TOPICS]
        pages = {f"{H}/": html("other", 0, *names[:5])}
        for at, name in enumerate(names):
            label, number = name.split("-")
            pages[f"{H}/{name}"] = html(label, int(number), *names[at + 3 : at + 6], "other-lost")
        warcs.pages(f"{web}.warc.gz", pages)
        labels = [f"{url}\t{url.rpartition('/')[2].split('-')[0] or 'other'}\n" for url in pages]
        (tmp_path / f"{web}.tsv").write_text("".join(labels))
    return tmp_path


def courses(folder: Path, **more: Any) -> Plan:
    given: dict[str, Any] = {"train": ["train.warc.gz:train.tsv"], "labels": "test.tsv", "target": ["course"]}
    given |= more.pop("task", {})
    task = Task(name="courses", web="test.warc.gz", seeds=[H], **{k: v for k, v in given.items() if v})
    said = {"model": "nb", "pages": 15, "strategies": ["best-first", "link-context"]} | more
    return complete(Comparison(task=[task], **said), folder)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    out = tmp_path_factory.mktemp("comparison")
    return compare(generated("music", "law"), out), out


class TestResults:
    def test_every_strategy_on_every_task(self, found: tuple[Results, Path]) -> None:
        runs = [(run.task, run.strategy, run.repeat) for run in found[0].runs]
        names = ("breadth-first", "random", "best-first", "otie", "oracle")
        assert runs == [(task, name, 0) for task in ("music", "law") for name in names]
        assert list(found[0].strategies) == list(names)

    def test_curves_have_a_value_for_each_page(self, found: tuple[Results, Path]) -> None:
        facts = {task.name: task for task in found[0].tasks}
        for run in found[0].runs:
            assert run.pages == len(run.order) == len(run.found) == len(run.harvest) == len(run.relevance) == 40
            assert run.found == sorted(run.found)
            assert run.recall["100"] == pytest.approx(run.found[-1] / facts[run.task].targets, abs=1e-6)
            assert run.recall["10"] == pytest.approx(run.found[3] / facts[run.task].targets, abs=1e-6)
            assert run.harvest_rate == run.harvest[-1]
            assert run.harvest_ratio == run.relevance[-1]
            assert run.ended == "limit of 40 pages"

    def test_the_area_is_the_mean_of_recall(self, found: tuple[Results, Path]) -> None:
        facts = {task.name: task for task in found[0].tasks}
        for run in found[0].runs:
            assert run.area == pytest.approx(sum(run.found) / facts[run.task].targets / 40, abs=1e-6)

    def test_the_oracle_knows_best(self, found: tuple[Results, Path]) -> None:
        areas = {(run.task, run.strategy): run.area for run in found[0].runs}
        for task, strategy in areas:
            assert areas[task, "oracle"] >= areas[task, strategy]

    def test_the_file_says_the_same(self, found: tuple[Results, Path]) -> None:
        assert results.load(found[1] / "results.json") == found[0]
        plain = json.loads((found[1] / "results.json").read_bytes())
        assert set(plain) == {"format", "strategies", "tasks", "runs", "timings"}
        assert set(plain["timings"]["law / otie / 0"]) == {"seconds", "cpu_s"}
        assert set(json.loads(encode(found[0], timings=False))) == set(plain) - {"timings"}

    def test_no_results(self, tmp_path: Path) -> None:
        (tmp_path / "results.json").write_text("[]")
        with pytest.raises(BadInput, match="not the results of a comparison"):
            results.load(tmp_path / "results.json")

    def test_results_of_the_future(self, found: tuple[Results, Path], tmp_path: Path) -> None:
        newer = msgspec.structs.replace(found[0], format=99)
        (tmp_path / "results.json").write_bytes(encode(newer))
        with pytest.raises(BadInput, match="written by a newer Lycosa"):
            results.load(tmp_path / "results.json")

    @pytest.mark.parametrize(("page", "value"), [(0, 0.0), (1, 0.1), (3, 0.3), (9, 0.3)])
    def test_a_crawl_that_ended_keeps_its_last_value(self, page: int, value: float) -> None:
        assert value_at([0.1, 0.2, 0.3], page) == value
        assert value_at([], page) == 0.0


class TestPerson:
    def plan(self, **more: Any) -> Plan:
        people = {"labelled": {"kind": "best-first", "person": {"every": 10}}}
        people["wrong"] = {"kind": "best-first", "person": {"every": 10, "wrong": 1.0}}
        task = Task(name="music", web=WEB, target=["music"], sentence="music and concerts")
        names = ["best-first", *people]
        return complete(Comparison(task=[task], strategies=names, strategy=people, pages=40, **more), Path())

    def test_labels_mend_verdicts_if_they_are_true(self, tmp_path: Path) -> None:
        runs = {run.strategy: run for run in compare(self.plan(), tmp_path).runs}
        assert {name: run.labels for name, run in runs.items() if run.labels} == {"labelled": 20, "wrong": 20}
        assert runs["wrong"].f1 < runs["best-first"].f1 < runs["labelled"].f1

    def test_each_repetition_asks_another_person(self) -> None:
        plan = self.plan()
        seeded = [comparing._seeded(plan.strategies["labelled"], 7, repeat) for repeat in (0, 1)]
        assert [options["person"]["seed"] for options in seeded] == [7, 8]
        assert comparing._seeded(plan.strategies["best-first"], 7, 1) == {"kind": "best-first"}

    def test_the_same_bytes_again(self, tmp_path: Path) -> None:
        for name in "ab":
            compare(self.plan(held_out=[10]), tmp_path / name, jobs=1 + (name == "b"))
        assert without_times(tmp_path / "a/results.json") == without_times(tmp_path / "b/results.json")

    def test_an_unknown_key(self) -> None:
        with pytest.raises(BadInput, match=r"^strategy\.otie\.person\.answer: unknown key$"):
            generated("music", strategy={"otie": {"person": {"answer": 3}}})


class TestEstimates:
    def test_are_left_out_unless_wanted(self, found: tuple[Results, Path]) -> None:
        assert all(run.estimates == [] for run in found[0].runs)

    def test_are_compared_with_the_truth(self, tmp_path: Path) -> None:
        for run in compare(generated("music", held_out=[10, 12, 10]), tmp_path).runs:
            assert [one.kind for one in run.estimates] == ["10 held out", "12 held out", "harvest curve"]
            assert all(0 <= error <= 1 for one in run.estimates for error in (one.error, *one.at.values()))
            assert run.estimates[0].error < 0.15

    def test_do_not_change_the_crawl(self, found: tuple[Results, Path], tmp_path: Path) -> None:
        runs = compare(generated("music", "law", held_out=[10]), tmp_path).runs
        assert [msgspec.structs.replace(run, estimates=[]) for run in runs] == found[0].runs

    def test_too_few_held_out_pages(self, tmp_path: Path) -> None:
        (tmp_path / "x.toml").write_text(
            'held_out = [9]\ntask = [{ name = "x", web = "generated:", target = ["law"] }]\n'
        )
        with pytest.raises(ConfigError, match=r"held_out.*>= 10"):
            load(tmp_path / "x.toml")


class TestRepeatable:
    def test_the_same_bytes_in_one_process_and_in_two(self, tmp_path: Path) -> None:
        plan = generated("music", "law", pages=25, strategies=EVERY)
        compare(plan, tmp_path / "a")
        compare(plan, tmp_path / "b", jobs=2)
        one, other = (without_times(tmp_path / name / "results.json") for name in "ab")
        assert one == other
        assert len(one) > 10_000

    def test_trained_judges_too(self, recorded: Path) -> None:
        for name in "ab":
            compare(courses(recorded), recorded / name)
        assert without_times(recorded / "a/results.json") == without_times(recorded / "b/results.json")

    def test_on_a_real_web(self, webs: Path, tmp_path: Path, cache: Path) -> None:
        task = Task(
            name="courses",
            web="webkb-texas.warc.gz",
            labels="webkb-texas.labels.tsv",
            target=["course"],
            seeds=["http://www.cs.utexas.edu/"],
            examples_from_targets=10,
            pages=60,
        )
        plan = complete(Comparison(task=[task], strategies=["link-context", "otie"], webs=str(webs)), Path())
        found = [compare(plan, tmp_path / name) for name in "ab"]
        assert encode(found[0], timings=False) == encode(found[1], timings=False)
        assert (found[0].tasks[0].targets, found[0].tasks[0].examples) == (28, 10)


class TestInTheField:
    """With the politeness of a real crawl, by pages and by hours."""

    def test_time_passes_and_the_table_tells(self, tmp_path: Path) -> None:
        got = compare(generated("astronomy", field=True, latency_s=0.5), tmp_path)
        assert all(run.hours > 0 for run in got.runs)
        assert all(len(run.seconds) == run.pages and run.seconds == sorted(run.seconds) for run in got.runs)
        text = report.table(got)
        assert "## By hours" in text
        assert "area by time" in text
        assert "delays, workers and response times of a real crawl" in text

    def test_strict_order_says_that_it_is_a_bound(self, found: tuple[Results, Path]) -> None:
        text = report.table(found[0])
        assert "By hours" not in text
        assert "an upper bound" in text
        assert b'"seconds":[' not in encode(found[0], timings=False)

    def test_the_manners_decide_what_is_kept(self, tmp_path: Path) -> None:
        strict = compare(generated("astronomy"), tmp_path)
        polite = compare(generated("astronomy", field=True), tmp_path)
        slower = compare(generated("astronomy", field=True, fetch=config.Fetch(delay_s=5.0)), tmp_path)
        assert strict.runs[2].hours == 0 < polite.runs[2].hours < slower.runs[2].hours

    def test_the_same_bytes_twice(self, tmp_path: Path) -> None:
        plan = generated("astronomy", field=True)
        for name in ("a", "b"):
            compare(plan, tmp_path / name)
        assert without_times(tmp_path / "a" / "results.json") == without_times(tmp_path / "b" / "results.json")

    def test_the_area_by_time(self) -> None:
        """Half of the targets at once, all after half of the time: three quarters."""
        facts = results.Facts("t", 0, "w", 2, [], [], 0, 2, 0, 2)
        run = results.Run(
            "t", "s", 0, 0.75, {}, 1.0, 1.0, 2, 0, "", [], [1, 2], [], [], hours=1.0, seconds=[0.0, 1800.0]
        )
        runs = report.Runs(Results({"s": {}}, [facts], [run]))
        assert report._area_by_time(run, runs) == pytest.approx(0.75)


class TestGoingOn:
    @pytest.fixture
    def crawled(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The strategies that were really run."""
        done: list[str] = []
        run = comparing.run

        def noted(job: Job) -> None:
            done.append(job.strategy)
            run(job)

        monkeypatch.setattr(comparing, "run", noted)
        return done

    def test_what_is_done_is_not_done_again(self, tmp_path: Path, crawled: list[str]) -> None:
        first = compare(generated("music", pages=10), tmp_path)
        assert len(crawled) == 5
        assert compare(generated("music", pages=10), tmp_path) == first
        assert len(crawled) == 5

    def test_a_stopped_comparison(self, tmp_path: Path, crawled: list[str]) -> None:
        def stop(what: str, done: int, total: int) -> None:
            if what == "crawling" and done == 3:
                raise KeyboardInterrupt

        plan = generated("music", pages=10)
        with pytest.raises(KeyboardInterrupt):
            compare(plan, tmp_path, watch=stop)
        assert not (tmp_path / "results.json").exists()
        compare(plan, tmp_path)
        assert crawled == list(plan.strategies)
        compare(plan, tmp_path / "whole")
        assert without_times(tmp_path / "results.json") == without_times(tmp_path / "whole/results.json")

    def test_another_strategy_more(self, tmp_path: Path, crawled: list[str]) -> None:
        compare(generated("music", pages=10), tmp_path)
        crawled.clear()
        compare(generated("music", pages=10, strategies=["best-first", "otie", "opic"]), tmp_path)
        assert crawled == ["opic"]

    def test_other_options(self, tmp_path: Path, crawled: list[str]) -> None:
        compare(generated("music", pages=10), tmp_path)
        crawled.clear()
        compare(generated("music", pages=10, strategy={"otie": {"a": 1.5}}), tmp_path)
        assert crawled == ["otie"]

    def test_more_pages(self, tmp_path: Path, crawled: list[str]) -> None:
        compare(generated("music", pages=10), tmp_path)
        compare(generated("music", pages=11), tmp_path)
        assert len(crawled) == 10

    def test_damaged_files_are_made_anew(self, tmp_path: Path, crawled: list[str]) -> None:
        first = compare(generated("music", pages=10), tmp_path)
        (tmp_path / "runs/music--otie--0.json").write_text("{")
        (tmp_path / "tasks/music-0.json").write_text("")
        assert encode(compare(generated("music", pages=10), tmp_path), False) == encode(first, False)
        assert crawled[5:] == ["otie"]

    def test_all_of_it_when_asked(self, tmp_path: Path, crawled: list[str]) -> None:
        compare(generated("music", pages=10), tmp_path)
        compare(generated("music", pages=10), tmp_path, fresh=True)
        assert len(crawled) == 10

    def test_other_labels(self, recorded: Path, crawled: list[str]) -> None:
        compare(courses(recorded), recorded / "out")
        labels = recorded / "test.tsv"
        labels.write_text(labels.read_text().replace("course-7\tcourse", "course-7\tother"))
        found = compare(courses(recorded), recorded / "out")
        assert (len(crawled), found.tasks[0].targets) == (10, 7)

    def test_progress(self, tmp_path: Path) -> None:
        seen: list[tuple[str, int, int]] = []
        compare(generated("music", "law", pages=5), tmp_path, watch=lambda *now: seen.append(now))
        assert seen[:2] == [("preparing music", 0, 2), ("preparing law", 1, 2)]
        assert seen[2:] == [("crawling", done, 10) for done in range(11)]


class TestRepeats:
    def test_what_chance_has_no_part_in_is_not_repeated(self, recorded: Path) -> None:
        found = compare(courses(recorded, repeat=3), recorded / "out")
        repeats = [(run.strategy, run.repeat) for run in found.runs]
        assert [run for run in repeats if run[1]] == [("random", 1), ("random", 2)]
        orders = [run.order for run in found.runs if run.strategy == "random"]
        assert len({tuple(order) for order in orders}) == 3
        assert len(found.tasks) == 1

    def test_other_webs_of_the_same_kind(self, tmp_path: Path) -> None:
        found = compare(generated("music", pages=10, repeat=2), tmp_path)
        assert [task.web.rpartition(",")[2] for task in found.tasks] == ["failing=true", "seed=4"]
        assert len(found.runs) == 10
        assert len({tuple(run.order) for run in found.runs if run.strategy == "breadth-first"}) == 2

    def test_other_examples(self, recorded: Path) -> None:
        drawn = {"train": [], "examples_from_targets": 3}
        found = compare(courses(recorded, task=drawn, repeat=2), recorded / "out")
        assert [(task.repeat, task.examples, task.targets) for task in found.tasks] == [(0, 3, 5), (1, 3, 5)]

    def test_the_seed_number_counts_from_where_it_is_told(self, recorded: Path) -> None:
        late = compare(courses(recorded, seed=1), recorded / "a")
        early = compare(courses(recorded, repeat=2), recorded / "b")
        one, two = (
            [run for run in found.runs if run.strategy == "random"][-1].order for found in (late, early)
        )  # fmt: skip
        assert one == two


class TestJudges:
    def test_trained_once_for_all_tasks(self, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from lycosa.judge.examples import Examples

        trained: list[str] = []
        fit = Examples.fit
        monkeypatch.setattr(Examples, "fit", lambda self, *rest: (trained.append(self.model), fit(self, *rest))[1])
        tasks = [
            Task(name=target, web="test.warc.gz", labels="test.tsv", target=[target], seeds=[H],
                 train=["train.warc.gz:train.tsv"])
            for target in ("course", "person")
        ]  # fmt: skip
        plan = complete(Comparison(task=tasks, model="nb", pages=10, strategies=["best-first"]), recorded)
        compare(plan, recorded / "out")
        assert trained == ["nb"]

    def test_a_focused_strategy_finds_more(self, recorded: Path) -> None:
        areas = {run.strategy: run.area for run in compare(courses(recorded), recorded / "out").runs}
        assert areas["oracle"] > areas["link-context"] > areas["breadth-first"]

    def test_the_topic_of_a_crawl(self, recorded: Path) -> None:
        words = ", ".join(f'"{word}"' for word in TOPICS["course"])
        (recorded / "crawl.toml").write_text(f'[topic]\nkind = "keywords"\nwords = [{words}]\n')
        plan = courses(recorded, task={"train": [], "topic": "crawl.toml"})
        found = compare(plan, recorded / "out")
        assert {run.strategy: run.harvest_ratio > 0 for run in found.runs}["best-first"]

    def test_a_topic_that_is_trained(self, recorded: Path) -> None:
        topic = '[topic]\nkind = "examples"\nexamples = "train.warc.gz"\nlabels = "train.tsv"\ntarget = ["course"]\n'
        (recorded / "crawl.toml").write_text(topic + 'model = "nb"\n')
        with_topic = compare(courses(recorded, task={"train": [], "topic": "."}), recorded / "a")
        with_train = compare(courses(recorded), recorded / "b")
        assert [run.order for run in with_topic.runs] == [run.order for run in with_train.runs]

    def test_examples_are_no_targets(self, recorded: Path) -> None:
        plan = courses(recorded, task={"train": [], "examples_from_targets": 3, "others_for_each": 1.0})
        made = prepare.Preparation(plan, recorded / "out").prepare(plan.tasks[0], 0)
        assert len(made.examples) == 3
        assert not set(made.examples) & set(made.targets)
        assert set(made.positives) == {*made.examples, *made.targets}
        labels = Path(made.judges["main"].folder) / "labels.tsv"
        assert (
            sorted(line.split("\t")[1] for line in labels.read_text().splitlines()) == ["other"] * 3 + ["positive"] * 3
        )
        assert judge_of(made.judges["main"]).targets(["positive", "other"]) == ["positive"]

    def test_targets_by_host(self, recorded: Path) -> None:
        task = {"train": [], "target": [], "labels": "", "hosts": ["a.example"], "examples_from_targets": 3}
        with pytest.raises(BadInput, match="3 of 25 targets and 0 other pages"):
            compare(courses(recorded, task=task), recorded / "out")

    @pytest.mark.parametrize(
        ("task", "problem"),
        [
            ({"target": ["cours"]}, r"target: no page has the label 'cours' \(there are: course, other, person\)"),
            ({"labels": "no.tsv"}, r"no\.tsv: No such file"),
            ({"train": ["no.warc:train.tsv"]}, r"no\.warc: No such file"),
            ({"train": ["train.warc.gz"]}, "is not WEB:LABELS"),
            ({"train": [], "examples_from_targets": 8}, "8 of 8 targets"),
        ],
    )
    def test_mistakes(self, recorded: Path, task: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            compare(courses(recorded, task=task), recorded / "out")

    def test_seeds_that_lead_nowhere(self, recorded: Path) -> None:
        plan = courses(recorded)
        lost = msgspec.structs.replace(plan.tasks[0], seeds=["http://lost.example/"])
        with pytest.raises(BadInput, match="task 'courses': seeds: no page of the web is at http://lost"):
            compare(msgspec.structs.replace(plan, tasks=[lost]), recorded / "out")

    def test_targets_out_of_reach(self, recorded: Path) -> None:
        plan = courses(recorded)
        last = msgspec.structs.replace(plan.tasks[0], seeds=[f"{H}/other-7"])
        with pytest.raises(BadInput, match="none of the 8 targets can be reached"):
            compare(msgspec.structs.replace(plan, tasks=[last]), recorded / "out")


class TestStrategies:
    @pytest.mark.parametrize(
        ("more", "problem"),
        [
            ({"strategies": ["best"]}, "there is no kind 'best' .*best-first.*random"),
            ({"strategy": {"otie": {"x": 1}}, "strategies": ["otie"]}, r"strategy\.x: unknown key for otie"),
            ({"strategies": ["tids"]}, "tids on task 'courses': "),
            ({"strategies": ["otie"], "strategy": {"otie": {"judge": "me"}}}, "there is no judge 'me'"),
        ],
    )
    def test_mistakes(self, recorded: Path, more: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            compare(courses(recorded, **more), recorded / "out")

    def test_a_mistake_in_another_process_is_told_as_well(self, recorded: Path) -> None:
        with pytest.raises(BadInput, match="tids on task 'courses': "):
            compare(courses(recorded, strategies=["tids"]), recorded / "out", jobs=2)
        assert not (recorded / "out" / "results.json").exists()

    def test_rules_have_a_judge_of_their_own(self, recorded: Path) -> None:
        mined: list[str] = []

        def mine(judge: Any, folder: Path) -> RuleBase:
            mined.append(judge.KIND)
            return RuleBase(["course", "other", "person"], {"other": {"course": 3, "other": 1}})

        plan = courses(
            recorded, strategies=["rules", "mine"], strategy={"mine": {"kind": "rules", "judge": "examples"}}
        )
        found = compare(plan, recorded / "out", mine=mine)
        assert sorted(mined) == ["examples", "taxonomy"]
        assert [run.strategy for run in found.runs] == ["breadth-first", "random", "rules", "mine", "oracle"]

    def test_rules_without_anybody_to_mine_them(self, recorded: Path) -> None:
        with pytest.raises(BadInput, match=r"rules on task 'courses': .*rules\.json: no such file; create it with: "):
            compare(courses(recorded, strategies=["rules"]), recorded / "out")

    def test_a_closed_web_has_no_failures(self, recorded: Path) -> None:
        """Links that lead out of the recording are 404s, or no links at all."""
        open_, closed = (
            compare(courses(recorded, task={"closed": fence}), recorded / str(fence)) for fence in (False, True)
        )
        assert all(run.failures for run in open_.runs if run.strategy != "oracle")
        assert not any(run.failures for run in closed.runs)


class Watched:
    """Notes down every page that is read."""

    def __init__(self, web: Any) -> None:
        self.web = web
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.web, name)

    def __len__(self) -> int:
        return len(self.web)

    def get(self, url: str) -> Answer | None:
        self.read.append(url)
        found: Answer | None = self.web.get(url)
        return found


def linked_from(web: Any, url: str) -> Iterator[str]:
    """All that somebody knows who has read what is at an address."""
    answer = web.get(url)
    headers = {name.lower(): value for name, value in answer.headers} if answer else {}
    if "location" in headers:
        yield headers["location"]
    elif answer and answer.status == 200:
        reply = Reply(Link(url), url=url, content_type=headers["content-type"], body=answer.body)
        yield from (link.url for link in Parsers().parse(reply).links)


def read_too_early(watched: Watched, seeds: Iterable[str]) -> list[str]:
    """What was read before anybody could know of it, or once more."""
    known, early = set(seeds), []
    for place, url in enumerate(watched.read):
        if url not in known or url in watched.read[:place]:
            early.append(url)
        known.update(linked_from(watched.web, url))
    return early


@dataclass
class Peeping:
    """Looks behind each link before it says what the link is worth."""

    web: Watched

    def score(self, visit: Visit) -> Sequence[float]:
        return [float(self.web.get(link.url) is not None) for link in visit.page.links]

    def merge(self, waiting: float, found: float) -> float:
        return waiting

    def learn(self, visit: Visit) -> None: ...


class TestNoPeeking:
    @pytest.mark.parametrize("strategy", ["breadth-first", "random", *EVERY])
    def test_a_page_is_read_once_and_after_a_page_that_links_to_it(
        self, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan = generated("music", pages=30, strategies=EVERY)
        made = prepare.Preparation(plan, tmp_path).prepare(plan.tasks[0], 0)
        web = Watched(open_web(WEB))
        monkeypatch.setattr(comparing, "_web", lambda name, folder: web)
        path = tmp_path / "run.json"
        comparing.run(Job(made, strategy, plan.strategies[strategy], 0, str(path)))
        assert read_too_early(web, made.seeds) == []
        run = json.loads(path.read_bytes())["run"]
        assert run["order"] == [url for url in web.read if url in set(run["order"])]

    def test_a_strategy_that_peeps_is_caught(self) -> None:
        web = Watched(open_web(WEB))
        seeds = open_web(WEB).seeds()
        crawl_web(web, seeds, judge_of(Judging({"kind": "keywords", "words": ["music"]}, "", "")), Peeping(web), 10)
        assert read_too_early(web, seeds)


def test_speed_and_areas_on_real_webs(webs: Path, tmp_path: Path, cache: Path) -> None:
    """Six tasks are too many for a test; one of them shows that the figures are of the right size."""
    task = Task(
        name="texas course",
        web="webkb-texas.warc.gz",
        labels="webkb-texas.labels.tsv",
        target=["course"],
        seeds=["http://www.cs.utexas.edu/"],
        train=["webkb-wisconsin.warc.gz:webkb-wisconsin.labels.tsv"],
        model="nb",
    )
    plan = complete(Comparison(task=[task], strategies=["opic"], webs=str(webs)), Path())
    found = {run.strategy: run for run in compare(plan, tmp_path).runs}
    assert found["breadth-first"].area == pytest.approx(0.62, abs=0.02)
    assert found["oracle"].area > 0.9
    made = prepare.Preparation(plan, tmp_path).prepare(plan.tasks[0], 0)
    web = open_web(task.web, webs)
    order = [web.page(url) for url in found["opic"].order]
    assert area_under_recall(order, set(made.targets), 400) == pytest.approx(found["opic"].area, abs=1e-6)
