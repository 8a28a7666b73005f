"""The table says what the runs say, and the pictures are the same for the same results."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from lycosa.lab.estimates import Errors
from lycosa.lab.report import Runs, draw, summary, table
from lycosa.lab.results import Facts, Results, Run
from lycosa.lab.significance import mean, paired_t_test, standard_error
from lycosa.types import BadInput

NAMES = ("breadth-first", "otie", "oracle")
AREAS = {"breadth-first": [0.2, 0.3, 0.1], "otie": [0.4, 0.5, 0.35], "oracle": [0.9, 0.8, 0.95]}


def facts(task: str, repeat: int = 0, pages: int = 4) -> Facts:
    return Facts(task, repeat, "web.warc.gz", pages, ["http://a.example/"], ["course"], 0, 2, 1, 30)


def run(task: str, strategy: str, area: float, repeat: int = 0) -> Run:
    recall = {"10": 0.0, "25": 0.0, "50": 0.5, "100": area}
    found, harvest = [0, 1, 1, 2], [0.0, 0.5, 1 / 3, 0.5]
    order = [f"http://a.example/{place}" for place in range(4)]
    return Run(
        task, strategy, repeat, area, recall, 0.5, 0.25, 4, 1, "limit of 4 pages", order, found, harvest, harvest
    )


@pytest.fixture
def results() -> Results:
    tasks = ["one", "two", "three"]
    runs = [run(task, name, AREAS[name][at]) for at, task in enumerate(tasks) for name in NAMES]
    return Results({name: {"kind": name} for name in NAMES}, [facts(task) for task in tasks], runs)


def rows(text: str, heading: str) -> dict[str, list[str]]:
    """The cells of the table under a heading, by the first of each row."""
    part = text.split(f"## {heading}")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return {cells[0]: [cell.strip() for cell in cells[1:]] for cells in lines[:1] + lines[2:]}


class TestTable:
    def test_areas(self, results: Results) -> None:
        got = rows(table(results), "Area under recall")
        assert got["strategy"] == ["mean", "one", "two", "three"]
        for name in NAMES:
            middle, error = mean(AREAS[name]), standard_error(AREAS[name])
            assert got[name] == [f"**{middle:.3f} ± {error:.3f}**", *(f"{area:.3f}" for area in AREAS[name])]

    def test_recall_and_harvest(self, results: Results) -> None:
        got = rows(table(results), "Recall and harvest")
        assert got["strategy"] == [
            *("recall 10 %", "recall 25 %", "recall 50 %", "recall 100 %"),
            *("harvest rate", "harvest ratio", "F1", "labels"),
        ]
        assert got["otie"][2] == "0.500 ± 0.000"
        assert got["otie"][3] == f"{mean(AREAS['otie']):.3f} ± {standard_error(AREAS['otie']):.3f}"
        assert got["otie"][4:] == ["0.500 ± 0.000", "0.250 ± 0.000", "0.000 ± 0.000", "0"]

    def test_labels_and_verdicts(self, results: Results) -> None:
        runs = [replace(one, f1=0.5 + 0.1 * place, labels=10 * place) for place, one in enumerate(results.runs[:3])]
        got = rows(table(Results(results.strategies, results.tasks[:1], runs)), "Recall and harvest")
        assert [cells[-2:] for name, cells in got.items() if name in NAMES] == [
            ["0.500", "0"],
            ["0.600", "10"],
            ["0.700", "20"],
        ]

    def test_no_estimates(self, results: Results) -> None:
        assert "Estimates" not in table(results)

    def test_estimates(self, results: Results) -> None:
        def errors(kind: str, error: float) -> Errors:
            return Errors(kind, error, 0.95, {"10": error, "25": 0.2, "50": 0.1, "100": 0.0})

        runs = [
            replace(one, estimates=[errors("10 held out", one.area / 10), errors("harvest curve", 0.3)])
            for one in results.runs
        ]
        part = table(Results(results.strategies, results.tasks, runs)).split("## Estimates of recall")[1]
        lines = [line for line in part.split("\n## ")[0].splitlines() if line.startswith("| otie")]
        middle = f"{mean(AREAS['otie']) / 10:.3f} ± {standard_error(AREAS['otie']) / 10:.3f}"
        last = "0.200 ± 0.000 | 0.100 ± 0.000 | 0.000 ± 0.000 |"
        assert lines == [
            f"| otie | 10 held out | {middle} | 95% | {middle} | {last}",
            f"| otie | harvest curve | 0.300 ± 0.000 | 95% | 0.300 ± 0.000 | {last}",
        ]

    def test_tests(self, results: Results) -> None:
        got = rows(table(results), "Significance")
        p = paired_t_test(AREAS["otie"], AREAS["breadth-first"]).p
        assert p < 0.05
        assert got["better than"] == list(NAMES)
        assert got["otie"][0] == f"**{p:.3f}**"
        assert float(got["breadth-first"][1]) == pytest.approx(1 - p, abs=0.001)

    def test_tasks(self, results: Results) -> None:
        got = rows(table(results), "Tasks")
        assert got["two"] == ["web.warc.gz", "course", "2", "1", "0", "30", "4"]

    def test_one_task_has_no_error_and_no_test(self, results: Results) -> None:
        alone = Results(results.strategies, results.tasks[:1], results.runs[:3])
        text = table(alone)
        assert "3 strategies on 1 task\n" in text
        assert rows(text, "Area under recall")["otie"] == ["**0.400**", "0.400"]
        assert "Significance" not in text

    def test_one_task_repeated(self) -> None:
        """Then the repeats are what is paired."""
        runs = [run("one", name, area, at) for name in NAMES for at, area in enumerate(AREAS[name])]
        tasks = [facts("one", repeat) for repeat in range(3)]
        text = table(Results({name: {"kind": name} for name in NAMES}, tasks, runs))
        p = paired_t_test(AREAS["otie"], AREAS["breadth-first"]).p
        assert rows(text, "Significance")["otie"][0] == f"**{p:.3f}**"
        assert rows(text, "Area under recall")["otie"][0] == f"**{mean(AREAS['otie']):.3f}**"
        assert "3 repetitions of what depends on chance" in text
        assert "one, repeat 2" in text

    def test_repeats_are_averaged_within_a_task(self, results: Results) -> None:
        more = Results(results.strategies, results.tasks, [*results.runs, run("one", "otie", 0.6, 1)])
        assert Runs(more).value("otie", "one", lambda one: one.area) == pytest.approx(0.5)
        assert rows(table(more), "Area under recall")["otie"][1] == "0.500"

    def test_names_cannot_break_the_table(self) -> None:
        odd = Results({"otie": {"kind": "otie"}}, [facts("a | b")], [run("a | b", "otie", 0.5)])
        assert "| a / b |" in table(odd)

    def test_summary(self, results: Results) -> None:
        shown = {name: cells for name, *cells in summary(Runs(results))}
        assert shown["oracle"][0] == f"{mean(AREAS['oracle']):.3f} ± {standard_error(AREAS['oracle']):.3f}"


class TestPictures:
    def test_png_and_svg(self, results: Results, tmp_path: Path) -> None:
        files = draw(results, tmp_path)
        assert [file.name for file in files] == ["recall.png", "recall.svg", "harvest.png", "harvest.svg"]
        assert files[0].read_bytes().startswith(b"\x89PNG")
        svg = files[1].read_text()
        assert "<svg" in svg
        assert "mean of 3 tasks" in svg

    def test_the_same_results_the_same_files(self, results: Results, tmp_path: Path) -> None:
        first, again = tmp_path / "a", tmp_path / "b"
        for folder in (first, again):
            folder.mkdir()
            draw(results, folder)
        for file in first.iterdir():
            assert file.read_bytes() == (again / file.name).read_bytes()

    def test_one_task(self, results: Results, tmp_path: Path) -> None:
        draw(Results(results.strategies, results.tasks[:1], results.runs[:3]), tmp_path)
        assert (tmp_path / "harvest.svg").exists()

    def test_many_tasks(self, tmp_path: Path) -> None:
        tasks = [f"task {number}" for number in range(15)]
        runs = [run(task, "otie", 0.5) for task in tasks]
        draw(Results({"otie": {"kind": "otie"}}, [facts(task) for task in tasks], runs), tmp_path)
        svg = (tmp_path / "recall.svg").read_text()
        assert "task 11" in svg
        assert "task 12" not in svg

    def test_a_strategy_that_has_no_run(self, results: Results, tmp_path: Path) -> None:
        some = [one for one in results.runs if one.strategy != "otie"]
        without = Results(results.strategies, results.tasks, some)
        draw(without, tmp_path)
        assert rows(table(without), "Area under recall")["otie"] == ["**-**", "-", "-", "-"]

    @pytest.mark.parametrize("also", [[], ["another"]])
    def test_a_task_is_text_not_a_formula(self, also: list[str], tmp_path: Path) -> None:
        tasks = [r"$\frac{1}$ \x1b", *also]
        runs = [run(task, "otie", 0.5) for task in tasks]
        draw(Results({"otie": {"kind": "otie"}}, [facts(task) for task in tasks], runs), tmp_path)
        assert r"$\frac{1}$" in (tmp_path / "recall.svg").read_text()

    def test_no_place(self, results: Results, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="cannot be written"):
            draw(results, tmp_path / "nowhere")
