"""The lab's reports as pages, and the small parts that make them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient

from lycosa.console import reports
from lycosa.console.copies import EMPTY, harmless
from lycosa.console.evidence import bars, marked_text
from lycosa.console.markdown import blocks, spans
from lycosa.lab.reproduce import report as experiment
from lycosa.lab.reproduce.pictures import Line, Panel, Picture
from lycosa.lab.results import Facts, Results, Run, save
from lycosa.types import Page

MakeConsole = Callable[..., TestClient]


def run(strategy: str, found: list[int], repeat: int = 0) -> Run:
    harvest = [value / (at + 1) for at, value in enumerate(found)]
    urls = [f"http://a/{at}" for at in range(len(found))]
    return Run("t", strategy, repeat, 0.5, {}, 0.5, 0.5, len(found), 0, "", urls, found, harvest, harvest)


def write_comparison(folder: Path) -> None:
    folder.mkdir(parents=True)
    facts = Facts("t", 0, "web", 4, [], ["x"], 0, 4, 0, 9)
    save(Results({}, [facts], [run("best", [1, 2, 3, 4]), run("worst", [0, 0, 1])]), folder / "results.json")
    (folder / "table.md").write_text(
        "# 2 strategies <script>\n\nSome *words*.\n\n| a | b |\n| --- | --: |\n| **x** | 1 |\n"
    )


def write_experiment(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("# A paper\n\n![Curves](scores.png)\n\n![Old](old.png)\n\n- one `code`\n- two\n")
    picture = Picture("scores", "Scores", [Panel("first", "x", "y", [Line("l", [0, 1], [0.5, 0.7])])])
    (folder / experiment.CURVES).write_bytes(msgspec.json.encode({"pictures": [picture]}))
    (folder / "old.png").write_bytes(b"\x89PNG")
    (folder / "secret.txt").write_text("no")


@pytest.fixture
def console(tmp_path: Path, make_console: MakeConsole) -> TestClient:
    write_comparison(tmp_path / "root" / "lab")
    write_experiment(tmp_path / "root" / "papers" / "one")
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(tmp_path / "root" / "papers" / "one" / "report.md", tmp_path / "elsewhere" / "report.md")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "elsewhere")
    return make_console(tmp_path / "root")


def test_reports_below_the_root_and_none_elsewhere(console: TestClient) -> None:
    assert console.get("/api/reports").json() == [
        {"name": "lab", "title": "2 strategies <script>", "kind": "comparison"},
        {"name": "papers~one", "title": "A paper", "kind": "experiment"},
    ]
    assert "2 strategies &lt;script&gt;" in console.get("/compare").text


def test_a_comparison_has_the_mean_curves_of_its_strategies(console: TestClient) -> None:
    charts = console.get("/api/reports/lab").json()["charts"]
    assert [chart["title"] for chart in charts] == ["Recall", "Harvest"]
    assert charts[0]["curves"][0] == {"name": "best", "x": [1.0, 2.0, 3.0, 4.0], "y": [0.25, 0.5, 0.75, 1.0]}
    page = console.get("/compare/lab").text
    assert page.count('class="curve"') == 2
    assert "<strong>x</strong>" in page
    assert "<em>words</em>" in page


def test_many_points_are_thinned_and_runs_that_ended_early_keep_their_value() -> None:
    facts = [Facts("t", repeat, "web", 1_000, [], [], 0, 1_000, 0, 0) for repeat in (0, 1)]
    runs = [run("s", [*range(1, 1_001)]), run("s", [1_000], 1)]
    curve = reports.of_results(Results({}, facts, runs))[0].curves[0]
    assert len(curve.x) <= reports.MOST_POINTS + 1
    assert (curve.x[-1], curve.y[-1]) == (1_000.0, 1.0)
    assert curve.y[0] == pytest.approx((curve.x[0] / 1_000 + 1) / 2)


def test_an_experiment_shows_its_curves_or_its_old_pictures(console: TestClient) -> None:
    page = console.get("/compare/papers~one").text
    assert page.count('class="curve"') == 1
    assert '<img src="/compare/papers~one/old.png"' in page
    assert "<code>code</code>" in page
    assert console.get("/compare/papers~one/old.png").headers["content-type"] == "image/png"


@pytest.mark.parametrize("path", ["nothing", "papers~one/secret.txt", "papers~one/..%2f..%2fx.png", "..%2fx", "out"])
def test_nothing_else_is_given_away(console: TestClient, path: str) -> None:
    assert console.get(f"/compare/{path}").status_code == 404


def test_markdown_is_what_our_reports_use() -> None:
    found = list(blocks("## H *x*\n\ntext\nmore\n\n- a\n- b\n\n| a \\| b | c |\n|---|--:|\n| 1 | 2 |"))
    assert [block.kind for block in found] == ["h", "p", "ul", "table"]
    assert found[0].level == 2
    assert found[1].spans[0].text == "text more"
    assert [[cell[0].text for cell in row] for row in found[3].rows] == [["a | b", "c"], ["1", "2"]]
    assert [(span.text, span.kind) for span in spans("[x](y) <b> **z**")] == [
        ("x", "a"),
        (" <b> ", ""),
        ("z", "strong"),
    ]


@pytest.mark.parametrize(
    ("body", "absent"),
    [
        ("<p onclick=x()>t", "onclick"),
        ("<a href='javascript:x'>t</a>", "href"),
        ("<img src=http://a/ onerror=x>t", "img"),
        ("<style>@import 'x'</style>t", "import"),
        ("<p style='background:url(http://a/)'>t", "url"),
        ("<p style='background:\\75rl(http://a/)'>t", "style"),
        ("<svg><script>x</script><image href=y /></svg>t", "svg"),
        ("<form action=http://a/><button formaction=http://a/>t</button></form>", "action"),
        ("<meta http-equiv=refresh content='0;url=http://a/'>t", "meta"),
        ("<base href=http://a/><iframe srcdoc='<script>x</script>'></iframe>t", "srcdoc"),
        ("<object data=x><embed src=y></object>t", "embed"),
        ("<template><img src=x></template>t", "src"),
    ],
)
def test_a_copy_keeps_the_words_and_loses_what_acts(body: str, absent: str) -> None:
    found = harmless(body.encode(), "text/html")
    assert "t" in found
    assert absent not in found.replace("<!doctype html>", "")
    assert "script" not in found


def test_copies_of_other_kinds() -> None:
    assert harmless(b"<b>&", "text/plain") == "<!doctype html><pre>&lt;b>&amp;</pre>"
    assert harmless("<p>ä".encode("latin-1"), "text/html; charset=iso-8859-1").count("ä") == 1
    assert harmless(b"", "text/html") in (EMPTY, "<!doctype html><html><head></head><body></body></html>")


def test_bars_are_relative_to_the_strongest() -> None:
    found = bars({"a": 1.0, "b": -4.0, "c": 0.0})
    assert [(bar.name, bar.share) for bar in found] == [("b", 1.0), ("a", 0.25), ("c", 0.0)]
    assert bars({}) == []


def test_words_are_marked_without_a_judge_that_can_tell() -> None:
    page = Page(title="Comet", text="A comet\nand (other) words")
    found = marked_text(page, object(), {"comet": 0.5, "(other words)": 0.2, "and": -0.1})
    assert [[(part.text, part.effect) for part in passage if part.effect] for passage in found] == [
        [("Comet", 0.5)],
        [("comet", 0.5)],
        [("and", -0.1)],
    ]
