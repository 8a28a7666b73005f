"""`lycosa topic rules`, and the published scenario from examples on disk to the order that a server sees."""

import asyncio
import csv
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from msgspec.structs import replace
from typer.testing import CliRunner, Result

from lycosa import build, config
from lycosa.cli.rules import rules
from lycosa.cli.topic import app as topic
from lycosa.clock import WallClock
from lycosa.mining import WAVE, Example, Mine, redirects, waves
from lycosa.store.warc import WarcWriter
from lycosa.strategy import rule_base
from lycosa.strategy.link_words import LinkWords
from lycosa.types import BadInput, Exchange

VOCABULARY = {
    "CH": "course lecture homework syllabus exam semester assignment textbook grading instructor",
    "DH": "department faculty school admission dean undergraduate programs offices colloquium chair",
    "PH": "homepage my research papers family hobbies resume vita advisor thesis",
    "SP": "football match league goal score season team coach stadium fans",
}
TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
TABLE_2 = {
    "DH": {"CH": 0.8, "PH": 0.1, "SP": 0.1},
    "CH": {"DH": 0.2, "CH": 0.4, "PH": 0.4},
    "PH": {"DH": 0.3, "CH": 0.4, "PH": 0.3},
    "SP": {"SP": 1.0},
}
SCENARIO = {"/S": ("PH", ["/U1", "/U2", "/U3", "/U4"]), "/U1": ("CH", ["/U5"])} | {
    name: (label, []) for name, label in (("/U2", "DH"), ("/U3", "PH"), ("/U4", "SP"), ("/U5", "PH"))
}

app = typer.Typer()
app.command()(rules)


def html(label: str, name: str, links: list[str] | None = None) -> str:
    """A page whose words leave no doubt of its class, and no two of which are the same."""
    words = VOCABULARY[label].split()
    at = sum(map(ord, name)) % len(words)
    anchors = "".join(f'<p><a href="{link}">{number}</a></p>' for number, link in enumerate(links or []))
    return f"<title>{words[at]}</title><p>{' '.join(words[at:] + words[:at])} {name.strip('/')}</p>{anchors}"


def links_of(label: str) -> list[str]:
    """Ten addresses, of as many classes as the table says: the class is in the address."""
    targets = [target for target, number in TABLE_1[label].items() for _ in range(number)]
    return [f"/{label}/{number}-{target}" for number, target in enumerate(targets)]


def write_topic(folder: Path, strategy: str, more: str = "", examples: str = 'examples = "pages"') -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.toml").write_text(
        f'[topic]\nkind = "taxonomy"\n{examples}\ntarget = ["PH"]\nmin_pages = 1\n'
        f'[strategy]\nkind = "{strategy}"\n'
        f"[fetch]\ndelay_s = 0.0\ndelay_factor = 0.0\nallow_private = true\nretries = 0\n{more}"
    )
    return folder


def write_examples(folder: Path, base: str) -> None:
    """Six pages a class, one of them with links."""
    for label in VOCABULARY:
        (folder / "pages" / label).mkdir(parents=True)
        for number in range(6):
            links = [base + link for link in links_of(label)] if number == 0 else []
            (folder / "pages" / label / f"{number}.html").write_text(html(label, f"example {number}", links))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def problem(*arguments: str | Path) -> str:
    """What a call that must fail complains of."""
    error = run(*arguments).exception
    assert isinstance(error, BadInput), error
    assert "\n" not in str(error)
    return str(error)


@pytest.fixture
def site(server: Any, answer: Callable[..., Any]) -> Any:
    """The pages that the examples link to, and those of the scenario; everything else is not there."""

    async def handle(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        if path in SCENARIO:
            label, links = SCENARIO[path]
            reply = answer(html(label, path, links).encode())
        elif path.count("/") == 2 and path[-2:] in VOCABULARY:
            reply = answer(html(path[-2:], path).encode())
        else:
            reply = answer(b"nothing here", "404 Not Found")
        await reply(path, headers, writer)

    server.handle = handle
    return server


async def crawl(folder: Path, *arguments: str) -> None:
    """With the installed command, in a process of its own."""
    command = Path(sys.executable).parent / "lycosa"
    process = await asyncio.create_subprocess_exec(
        str(command), "crawl", str(folder), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()


# -- the whole way ----------------------------------------------------------------------------------------------------


async def test_from_examples_to_the_published_rules_and_the_published_orders(site: Any, tmp_path: Path) -> None:
    """Table 1 on disk and on a server, Table 2 mined from it, and the crawls of Figure 3."""
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, site.url)
    outcome = await asyncio.to_thread(run, folder)
    assert outcome.exit_code == 0, outcome.exception
    assert (
        "10 rules between 4 classes, counted on 40 pairs of a class and a page it links to; link weights of 0"
        in outcome.stdout
    )
    assert rule_base.load(folder / "rules.json").rules() == TABLE_2
    asked = [path for path, _ in site.requests]
    assert asked[0] == "/robots.txt"
    assert sorted(asked[1:]) == sorted(link for label in TABLE_1 for link in links_of(label))

    site.requests.clear()
    await crawl(folder, "--seed", f"{site.url}/S")
    assert [path for path, _ in site.requests] == ["/robots.txt", "/S", "/U1", "/U5", "/U2", "/U3", "/U4"]

    site.requests.clear()
    baseline = write_topic(tmp_path / "baseline", "best-first", examples=f"examples = '{folder / 'pages'}'")
    await crawl(baseline, "--seed", f"{site.url}/S")
    assert [path for path, _ in site.requests] == ["/robots.txt", "/S", "/U1", "/U2", "/U3", "/U4", "/U5"]


async def test_hard_focus_goes_no_further_than_the_pages_on_topic(site: Any, tmp_path: Path) -> None:
    """U1 is a course's page: its link to U5 is dropped."""
    folder = write_topic(tmp_path / "crawl", "hard-focus")
    write_examples(folder, site.url)
    await crawl(folder, "--seed", f"{site.url}/S")
    assert [path for path, _ in site.requests] == ["/robots.txt", "/S", "/U1", "/U2", "/U3", "/U4"]


async def test_no_more_is_fetched_than_was_allowed(site: Any, tmp_path: Path) -> None:
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, site.url)
    outcome = await asyncio.to_thread(run, folder, "--most", "8")
    assert outcome.exit_code == 0, outcome.exception
    asked = [path for path, _ in site.requests if path != "/robots.txt"]
    assert len(asked) == 8
    assert {path[1:3] for path in asked} == set(VOCABULARY)  # of each class alike


async def test_pages_that_cannot_be_had_tell_nothing(site: Any, answer: Callable[..., Any], tmp_path: Path) -> None:
    site.handle = answer(b"gone", "404 Not Found")
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, site.url)
    error = await asyncio.to_thread(problem, folder)
    assert "no page that the examples link to" in error
    assert not (folder / "rules.json").exists()


# -- recorded examples ------------------------------------------------------------------------------------------------


def record(folder: Path, name: str, pages: Mapping[str, str], moved: Mapping[str, str] | None = None) -> Path:
    """A WARC of pages and redirects by address."""
    writer = WarcWriter(folder / name, "test", 1_000_000_000)
    writer.open()
    for at, (url, body) in enumerate(pages.items()):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body.encode())}\r\n\r\n".encode()
        writer.write((Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, body.encode(), float(at)),))
    for url, target in (moved or {}).items():
        head = f"HTTP/1.1 301 Moved Permanently\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
        writer.write((Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, b"", 1.0),))
    writer.close()
    (found,) = (folder / name).glob("*.warc.gz")
    return found


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Examples with labels and what they link to in one WARC; one page is reached by two redirects."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    pages, labels = {}, []
    for label in VOCABULARY:
        for number in range(6):
            url = f"http://x.example/example/{label}/{number}"
            links = [*links_of(label), url, "http://elsewhere.example/"] if number < 2 else []
            pages[url] = html(label, url, ["/old" if link == "/DH/0-CH" else link for link in links])
            labels.append(f"{url}\t{label}\n")
        for link in links_of(label):
            pages[f"http://x.example{link}"] = html(link[-2:], link)
    moved = {"http://x.example/old": "/older", "http://x.example/older": "/DH/0-CH"}
    warc = record(folder, "web", pages, moved)
    (folder / "labels.tsv").write_text("".join(labels))
    examples = f'examples = "{warc.relative_to(folder)}"\nlabels = "labels.tsv"'
    return write_topic(folder, "rules", examples=examples)


def test_what_is_recorded_with_the_examples_is_not_fetched(recorded: Path) -> None:
    """Two examples a class link to the same ten pages, which count once; redirects lead to where they lead."""
    outcome = run(recorded)
    assert outcome.exit_code == 0, outcome.exception
    found = rule_base.load(recorded / "rules.json")
    assert found.rules() == TABLE_2
    assert found.counts == TABLE_1
    assert found.temperature > 1  # links lead further than a sure judge thinks


def test_a_further_warc_has_what_files_on_disk_link_to(tmp_path: Path) -> None:
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, "http://x.example")
    pages = {f"http://x.example{link}": html(link[-2:], link) for label in TABLE_1 for link in links_of(label)}
    warc = record(tmp_path, "web", pages | {"http://x.example/unasked": html("SP", "unasked")})
    outcome = run(folder, "--warc", warc)
    assert outcome.exit_code == 0, outcome.exception
    assert rule_base.load(folder / "rules.json").counts == TABLE_1


def test_an_earlier_crawl_teaches_with_the_classes_that_the_judge_gives_its_pages(tmp_path: Path) -> None:
    """The pages of the crawl have no labels; the examples link to none of them."""
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, "http://x.example")
    pages = {"http://y.example/": html("DH", "/", ["/a", "/b", "/old"]), "http://y.example/a": html("CH", "/a", ["/b"])}
    pages |= {"http://y.example/b": html("PH", "/b"), "http://y.example/c": html("PH", "/c", ["/"])}
    record(tmp_path / "before", "warc", pages, {"http://y.example/old": "/c"})
    outcome = run(folder, "--crawl", tmp_path / "before")
    assert outcome.exit_code == 0, outcome.exception
    found = rule_base.load(folder / "rules.json").counts
    assert found == {"DH": {"CH": 1, "PH": 2}, "CH": {"PH": 1}, "PH": {"DH": 1}}
    empty = tmp_path / "empty"
    assert problem(folder, "--crawl", empty).startswith(f"{empty}: no crawl with recorded pages")


def test_redirects_of_a_warc(tmp_path: Path) -> None:
    moved = {
        "http://x.example/a": "b?c",
        "http://x.example/d": "",
        "http://x.example/e": "/e",
        "http://x.example/f": "mailto:x",
    }
    assert dict(redirects(record(tmp_path, "web", {}, moved))) == {"http://x.example/a": "http://x.example/b?c"}


# -- made by a crawl itself -------------------------------------------------------------------------------------------


def made(folder: Path) -> Any:
    """The strategy of a crawl, prepared as `lycosa crawl` does it."""
    return build.build(folder, *config.load(folder), WallClock()).strategy


@pytest.mark.parametrize("strategy", ["learned", "rules"])
def test_a_crawl_learns_from_recorded_examples_where_links_lead(recorded: Path, strategy: str) -> None:
    """Nothing else was prepared: no rules, no model."""
    text = (recorded / "crawl.toml").read_text().replace('kind = "rules"', f'kind = "{strategy}"')
    (recorded / "crawl.toml").write_text(text)
    prepared = made(recorded)
    worth = prepared.scores_ if strategy == "rules" else prepared.class_rules_.worth
    assert worth["DH"] > worth.get("SP", 0.0)
    found = rule_base.load(recorded / "rules.json")
    assert found.counts == TABLE_1
    assert found.made_from


def test_a_crawl_learns_again_only_from_other_examples(recorded: Path) -> None:
    path = recorded / "rules.json"
    made(recorded)
    written = path.stat().st_ino
    made(recorded)
    assert path.stat().st_ino == written
    lines = (recorded / "labels.tsv").read_text().splitlines(keepends=True)
    (recorded / "labels.tsv").write_text("".join(lines[1:]))
    before = rule_base.load(path)
    made(recorded)
    assert rule_base.load(path).made_from != before.made_from


def test_rules_that_somebody_made_are_left_alone(recorded: Path) -> None:
    own = rule_base.RuleBase(sorted(TABLE_1), {"SP": {"PH": 1.0}})
    rule_base.save(own, recorded / "rules.json")
    made(recorded)
    assert rule_base.load(recorded / "rules.json") == own


def test_examples_that_say_nothing_about_links_are_no_obstacle(tmp_path: Path) -> None:
    """Files on disk, and a WARC whose pages have no links."""
    folder = write_topic(tmp_path / "files", "learned")
    write_examples(folder, "http://x.example")
    made(folder)
    assert not (folder / "rules.json").exists()
    pages = {f"http://x.example/{label}/{n}": html(label, f"{label} {n}") for label in VOCABULARY for n in range(6)}
    other = tmp_path / "recorded"
    warc = record(other, "web", pages)
    (other / "labels.tsv").write_text("".join(f"{url}\t{url.split('/')[3]}\n" for url in pages))
    examples = f'examples = "{warc.relative_to(other)}"\nlabels = "labels.tsv"'
    made(write_topic(other, "learned", examples=examples))
    assert not (other / "rules.json").exists()


def test_training_a_topic_learns_where_links_lead(recorded: Path) -> None:
    outcome = CliRunner().invoke(topic, ["train", str(recorded)])
    assert outcome.exit_code == 0, outcome.exception
    written = f"{recorded / 'rules.json'} written: where links lead, learned from 40 pages"
    assert outcome.stdout.splitlines()[-1] == written
    assert rule_base.load(recorded / "rules.json").counts == TABLE_1


# -- show, export, draw -----------------------------------------------------------------------------------------------


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    folder = write_topic(tmp_path / "crawl", "rules")
    rule_base.save(rule_base.RuleBase(sorted(TABLE_1), TABLE_1), folder / "rules.json")
    return folder


def test_show_needs_nothing_but_the_rules(mined: Path) -> None:
    """There is not even an example there: nothing is mined again."""
    outcome = run(mined, "--show")
    assert outcome.exit_code == 0, outcome.exception
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert ["DH", "CH", "0.800", "8"] in rows
    assert ["DH", "0.420"] in rows
    assert "target: PH" in outcome.stdout


def test_classes_without_a_way_to_the_target_are_shown_too(mined: Path, tmp_path: Path) -> None:
    outcome = run(mined, "--show", "--export", tmp_path / "all.json")
    assert ["SP", "-"] in [line.split() for line in outcome.stdout.splitlines()]
    assert "-: no path to the target; the relevance of the page is used instead" in outcome.stdout
    assert json.loads((tmp_path / "all.json").read_text())["unruled"] == ["SP"]
    rule_base.save(rule_base.RuleBase(["DH", "PH"], {"DH": {"PH": 1}, "PH": {"PH": 1}}), mined / "rules.json")
    assert "no path" not in run(mined, "--show").stdout


def test_the_words_of_links_that_lead_to_the_target_are_shown(mined: Path, tmp_path: Path) -> None:
    found = rule_base.load(mined / "rules.json")
    links = {
        "PH": LinkWords(-1.0, {"near exam": -0.5, "“home”": 2.5, "title student": 3.0}),
        "CH": LinkWords(0.0, {"/cours": 1.0}),
    }
    rule_base.save(replace(found, links=links), mined / "rules.json")
    outcome = run(mined, "--show", "--export", tmp_path / "all.json")
    assert "words of links to PH: title student, “home”\n" in outcome.stdout
    assert "/cours" not in outcome.stdout
    words = json.loads((tmp_path / "all.json").read_text())["words"]
    assert words == {"PH": {"title student": 3.0, "“home”": 2.5, "near exam": -0.5}}


@pytest.mark.parametrize("option", [["--show"], ["--export", "rules.csv"], ["--draw", "rules.png"]])
def test_rules_of_other_classes_are_no_empty_table(mined: Path, option: list[str]) -> None:
    rule_base.save(rule_base.RuleBase(["cat", "dog"], {"cat": {"dog": 1}}), mined / "rules.json")
    assert problem(mined, *option) == (
        f"{mined / 'rules.json'}: made for classes that the topic does not have;"
        f" mine them again: lycosa topic rules {mined}"
    )


def test_the_strategy_s_own_options_count(mined: Path) -> None:
    text = (mined / "crawl.toml").read_text().replace('kind = "rules"', 'kind = "rules"\nmax_depth = 1')
    (mined / "crawl.toml").write_text(text)
    assert ["DH", "0.100"] in [line.split() for line in run(mined, "--show").stdout.splitlines()]


def test_long_tables_are_cut_on_the_screen_only(mined: Path, tmp_path: Path) -> None:
    names = [f"class {number}" for number in range(60)]
    counts = {name: {"PH": 1, "class 0": 2} for name in names}
    rule_base.save(rule_base.RuleBase(["PH", *names], counts), mined / "rules.json")
    outcome = run(mined, "--show", "--export", tmp_path / "all.csv")
    assert "20 more rules" in outcome.stdout
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 121


def test_export_as_csv_and_json(mined: Path, tmp_path: Path) -> None:
    assert run(mined, "--export", tmp_path / "rules.csv").exit_code == 0
    with (tmp_path / "rules.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert {"from": "DH", "to": "CH", "probability": "0.8", "pages": "8.0"} in rows
    assert run(mined, "--export", tmp_path / "all.json").exit_code == 0
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["targets"] == ["PH"]
    assert {"from": "DH", "to": "CH", "probability": 0.8, "pages": 8.0} in found["rules"]
    assert found["scores"] == pytest.approx({"DH": 0.42, "CH": 0.42, "PH": 0.3})


def test_draw_writes_a_picture(mined: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert run(mined, "--draw", tmp_path / "rules.png").exit_code == 0
    assert (tmp_path / "rules.png").read_bytes().startswith(b"\x89PNG")


# -- what cannot be done ----------------------------------------------------------------------------------------------


def test_a_topic_without_classes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[topic]\nkind = "keywords"\nwords = ["web"]\n')
    assert f"{tmp_path / 'crawl.toml'}, line 2: topic.kind: rules are mined from classes" in problem(tmp_path)
    (tmp_path / "crawl.toml").write_text("")
    assert "topic: this section is needed" in problem(tmp_path)


def test_bad_calls_are_one_clear_line(mined: Path, tmp_path: Path) -> None:
    assert "the file name must end in .csv or .json" in problem(mined, "--export", tmp_path / "rules.txt")
    assert "cannot be written" in problem(mined, "--export", tmp_path / "no" / "rules.csv")
    assert "the file name must end in" in problem(mined, "--draw", tmp_path / "rules.gif")
    assert "there is no 'pages'" in problem(mined)
    (mined / "rules.json").write_text("{}")
    assert "rules.json: not a file of rules" in problem(mined, "--show")


@pytest.mark.parametrize("option", [["--show"], ["--export", "rules.csv"], ["--draw", "rules.png"]])
def test_without_rules_nothing_is_mined_to_be_shown(tmp_path: Path, option: list[str]) -> None:
    folder = write_topic(tmp_path / "crawl", "rules")
    assert problem(folder, *option) == (
        f"{folder / 'rules.json'}: no rules yet; mine them with: lycosa topic rules {folder}"
    )


def test_examples_without_links_are_refused(tmp_path: Path) -> None:
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, "relative")
    assert "none of the pages has a link" in problem(folder)


def test_a_warc_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = write_topic(tmp_path / "crawl", "rules")
    write_examples(folder, "http://x.example")
    assert "none.warc.gz" in problem(folder, "--warc", tmp_path / "none.warc.gz")


# -- parts ------------------------------------------------------------------------------------------------------------


def test_a_site_is_never_split_between_waves() -> None:
    urls = [f"http://{name}.site{site}.org/{page}" for page in range(30) for site in range(9) for name in ("www", "a")]
    parts = list(waves(urls))
    assert sorted(url for part in parts for url in part) == sorted(urls)
    assert all(len(part) >= WAVE for part in parts[:-1])
    sites = [{url.split("/")[2].split(".", 1)[1] for url in part} for part in parts]
    assert sum(map(len, sites)) == 9
    assert list(waves([])) == []


def test_the_lot_is_fair_and_always_the_same() -> None:
    mine = Mine(judge=None, folder=Path())
    many = [f"http://m/{number}" for number in range(500)]
    mine.examples = [Example("many", many, []), Example("few", ["http://f/1", "http://f/2"], [])]
    drawn = mine.missing(10)
    assert len(drawn) == len(set(drawn)) == 10
    assert {"http://f/1", "http://f/2"} < set(drawn)
    assert drawn == mine.missing(10)
    mine.classes["http://f/1"] = "few"
    assert "http://f/1" not in mine.missing(1_000)
    assert len(mine.missing(1_000)) == 501
    assert mine.missing(0) == []


def test_redirects_that_run_in_circles_end() -> None:
    mine = Mine(judge=None, folder=Path(), moved={"http://x/a": "http://x/b", "http://x/b": "http://x/a"})
    mine.examples = [Example("one", ["http://x/a"], [])]
    assert mine.missing(5) == ["http://x/a"]


def test_words_lead_by_the_labels_of_the_examples_and_by_the_judge_s_classes() -> None:
    mine = Mine(judge=SimpleNamespace(classifier_=SimpleNamespace(labels=["CH", "PH"])), folder=Path())
    people = [f"http://{host}.example/{name}" for host in "ab" for name in ("ann", "bob", "eve")]
    courses = [f"http://{host}.example/{name}" for host in "ab" for name in ("algebra", "geometry", "logic")]
    mine.examples = [
        Example("CH", [*people, "http://c.example/gone"], [["“prof”"]] * 7),
        Example("PH", [*courses, "http://a.example/moved"], [["“cours”", "near term"]] * 6 + [["“prof”"]]),
    ]
    mine.classes = dict.fromkeys([*people, *courses], "CH")
    mine.known = dict.fromkeys(people, "PH")
    mine.moved = {"http://a.example/moved": people[0]}
    rules = mine.rules()
    assert set(rules.links) == {"CH", "PH"}
    assert rules.links["PH"].words["“prof”"] > 0 > rules.links["PH"].words["“cours”"]
    assert rules.links["CH"].words["near term"] > 0
    assert rules.counts == {"CH": {"CH": 6}, "PH": {"CH": 7}}  # as the judge sees them, who will see the crawl
