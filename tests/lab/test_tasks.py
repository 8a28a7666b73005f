"""What is to be compared, read from TOML: defaults filled in, and each mistake named."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.tasks import Comparison, Plan, Task, complete, load, slug, trained_on
from lycosa.lab.webs import GENERATED, generated
from lycosa.strategy import STRATEGIES
from lycosa.types import BadInput

TASK = """
[[task]]
name = "courses"
web = "a.warc.gz"
labels = "a.tsv"
target = ["course"]
seeds = ["http://a.example/"]
train = ["b.warc.gz:b.tsv"]
"""


def read(folder: Path, text: str, **changes: Any) -> Plan:
    path = folder / "compare.toml"
    path.write_text(text)
    return load(path, **changes)


class TestDefaults:
    def test_the_least(self, tmp_path: Path) -> None:
        plan = read(tmp_path, TASK)
        assert [(task.name, task.pages, task.model) for task in plan.tasks] == [("courses", 400, "logistic")]
        assert list(plan.strategies) == [
            *("breadth-first", "random", "best-first", "link-context", "opic", "otie", "oracle")
        ]
        assert (plan.repeat, plan.seed, plan.folder, plan.home) == (1, 0, tmp_path, tmp_path)

    def test_what_holds_for_all_and_what_for_one(self, tmp_path: Path) -> None:
        plan = read(tmp_path, 'pages = 50\nmodel = "nb"\n' + TASK + 'pages = 70\n[[task]]\nname = "g"\n'
                    'web = "generated:"\ntarget = ["music"]\n')  # fmt: skip
        assert [(task.pages, task.model) for task in plan.tasks] == [(70, "nb"), (50, "nb")]

    def test_the_command_line_has_the_last_word(self, tmp_path: Path) -> None:
        plan = read(tmp_path, "pages = 50\n" + TASK + "pages = 70\n", pages=9, strategies=["otie"], repeat=3)
        assert plan.tasks[0].pages == 9
        assert list(plan.strategies) == ["breadth-first", "random", "otie", "oracle"]
        assert plan.repeat == 3

    def test_the_bounds_are_always_there_once(self, tmp_path: Path) -> None:
        plan = read(tmp_path, 'strategies = ["oracle", "otie", "breadth-first", "otie", "random"]\n' + TASK)
        assert list(plan.strategies) == ["breadth-first", "random", "otie", "oracle"]

    def test_the_oracle_can_be_left_out(self, tmp_path: Path) -> None:
        plan = read(tmp_path, 'oracle = false\nstrategies = ["oracle", "otie"]\n' + TASK)
        assert list(plan.strategies) == ["breadth-first", "random", "otie"]

    def test_options_and_variants(self, tmp_path: Path) -> None:
        plan = read(
            tmp_path,
            'strategies = ["otie", "sharp"]\n[strategy.sharp]\nkind = "otie"\na = 1.5\n'
            '[strategy.rules]\njudge = "examples"\n'.replace('[strategy.rules]\njudge = "examples"\n', "")
            + TASK,
        )
        assert plan.strategies["otie"] == {"kind": "otie"}
        assert plan.strategies["sharp"] == {"kind": "otie", "a": 1.5}


class TestFolders:
    def test_webs_beside_the_file(self, tmp_path: Path) -> None:
        plan = read(tmp_path, 'webs = "recordings"\n' + TASK)
        assert (plan.folder, plan.home) == (tmp_path / "recordings", tmp_path)
        assert trained_on(plan.tasks[0], plan.folder) == [
            (tmp_path / "recordings/b.warc.gz", tmp_path / "recordings/b.tsv")
        ]

    @pytest.mark.parametrize("name", ["$SOME_WEBS/old", "${SOME_WEBS}/old"])
    def test_from_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setenv("SOME_WEBS", "/data")
        assert read(tmp_path, f'webs = "{name}"\n' + TASK).folder == Path("/data/old")

    def test_a_variable_that_is_not_set(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SOME_WEBS", raising=False)
        with pytest.raises(BadInput, match=r"compare\.toml: webs: the environment variable SOME_WEBS is not set"):
            read(tmp_path, 'webs = "$SOME_WEBS"\n' + TASK)

    def test_train_needs_labels(self, tmp_path: Path) -> None:
        plan = read(tmp_path, TASK.replace(":b.tsv", ""))
        with pytest.raises(BadInput, match=r"task 'courses': train: 'b\.warc\.gz' is not WEB:LABELS"):
            trained_on(plan.tasks[0], tmp_path)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "lab").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_can_be_run(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LYCOSA_WEBS", str(tmp_path))
    plan = load(path)
    assert len(plan.tasks) >= 2
    for task in plan.tasks:
        assert not Path(task.web).is_absolute()
        if task.web.startswith(GENERATED):
            assert set(task.target) <= set(generated(task.web).text.topics)
    for options in plan.strategies.values():
        assert options["kind"] in {*STRATEGIES, "random", "oracle"}


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("task = 3", r"compare\.toml, line 1: task: expected a list"),
            ("[[task]]\nname = 'x'", r"task\.web: this key is needed"),
            (TASK + "colour = 1", r"compare\.toml, line 9: task\.colour: unknown key"),
            (TASK + "pages = -1", r"line 9: task\.pages: expected a whole number >= 0"),
            ("repeat = 0\n" + TASK, r"line 1: repeat: expected a whole number >= 1"),
            (TASK.replace('["http://a.example/"]', "'http://b/'"), r"seeds: 'http://b/' is a URL.*seeds = \["),
            ("model = 'oracle'\n" + TASK, r"line 1: model: invalid enum value"),
            ("not toml", "not valid TOML"),
            ("task = []", "at least one is required"),
            (TASK + TASK, "task 'courses': names of tasks must be unique"),
            (TASK.replace("courses", "--"), "names of tasks must be unique"),
            (TASK.replace('target = ["course"]', ""), "specify the targets"),
            (TASK + 'hosts = ["a.example"]', "specify the targets"),
            (TASK.replace('labels = "a.tsv"', ""), "labels: required"),
            (TASK.replace('seeds = ["http://a.example/"]', ""), "seeds: required"),
            (TASK.replace('train = ["b.warc.gz:b.tsv"]', ""), "specify the judge"),
            (TASK + 'topic = "crawl.toml"', "specify the judge"),
            (TASK + "examples_from_targets = 5", "specify the judge"),
            (TASK.replace('target = ["course"]', 'hosts = ["a.example"]'), "needs `target`"),
            ("strategies = ['?']\n" + TASK, r"strategies: '\?' is not a name"),
            ("[strategy.otter]\na = 1\n" + TASK, r"strategy\.otter: options for a strategy that is not one"),
        ],
    )
    def test_is_named(self, tmp_path: Path, text: str, problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            read(tmp_path, text)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"no\.toml: cannot be read"):
            load(tmp_path / "no.toml")


def test_a_generated_web_needs_neither_labels_nor_seeds_nor_judge() -> None:
    task = Task(name="g", web="generated:pages=100", target=["music"])
    assert complete(Comparison(task=[task]), Path()).tasks[0].pages == 400


@pytest.mark.parametrize(("name", "short"), [("UIC health!", "uic-health"), ("a/b", "a-b"), ("..", ""), ("Ä", "")])
def test_a_name_as_a_file_name(name: str, short: str) -> None:
    assert slug(name) == short
