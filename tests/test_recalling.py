"""Recall and drift in a whole crawl: what is set aside, what a restart keeps, when it stops, what the user reads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from lycosa import config
from lycosa.again import next_config
from lycosa.build import Parts
from lycosa.cli import app
from lycosa.lab.answer import Answer
from lycosa.lab.clock import LabClock
from lycosa.lab.replay import ReplayFetcher
from lycosa.recalling import stored_estimate, without_held_out
from lycosa.rejudge import rejudge_folder
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.types import BadInput, Page

GOOD = [f"http://good.test/{number}" for number in range(60)]
CATS = "forest prey hunt river paw cub night habitat species amazon spots roar territory diet"
CARS = "engine dealer price sedan leather wheel warranty lease model gearbox torque brake seat"


class Web(dict[str, Answer]):
    """A few pages by hand; `get` is all that a crawl asks of a web."""

    def add(self, url: str, text: str, links: list[str]) -> None:
        anchors = "".join(f'<a href="{link}">more</a> ' for link in links)
        self[url] = Answer(body=f"<title>{url}</title><p>{text} {url}</p>{anchors}".encode())


@pytest.fixture
def web() -> Web:
    """A list of sixty good pages, and a chain of three hundred bad ones."""
    made = Web()
    made.add("http://good.test/", "nothing", [*GOOD, "http://bad.test/0"])
    for url in GOOD:
        made.add(url, "jaguar jaguar jaguar", [])
    for number in range(300):
        made.add(f"http://bad.test/{number}", "weather report", [f"http://bad.test/{number + 1}"])
    return made


def folder(path: Path, known: list[str] | None = GOOD, **sections: str) -> Path:
    path.mkdir()
    if known is not None:
        (path / "known.txt").write_text("\n".join(known))
    rules = {
        "limits": "pages = 1000\nrecall = 0.8",
        "recall": 'known = "known.txt"' if known else "",
        "scope": "max_depth = 0",
    } | sections
    text = "".join(f"[{name}]\n{keys}\n" for name, keys in rules.items() if name != "seeds")
    (path / "crawl.toml").write_text(
        f'seeds = {sections.get("seeds", ["http://good.test/"])}\n[topic]\nkind = "keywords"\nwords = ["jaguar"]\n'
        '[strategy]\nkind = "best-first"\n[fetch]\nconcurrency = 1\ndelay_s = 0.0\ndelay_factor = 0.0\n' + text
    )
    return path


async def crawl(path: Path, web: Web, *overrides: str, watch: Callable[[Run], None] = lambda run: None) -> Any:
    """One run; its last summary."""
    clock = LabClock()

    def replay(parts: Parts) -> ReplayFetcher:
        return ReplayFetcher(web, parts.config.fetch, clock.now, parts.frontier.refuses_hop, parts.db)

    run = Run(path, *config.load(path, overrides), clock, fetcher=replay)
    run.open()
    try:
        watch(run)
        return await run.crawl(lambda summary: None)
    finally:
        run.close()


def held_out(path: Path) -> set[str]:
    db = CrawlDb(path / "crawl.db", readonly=True).open()
    estimate = stored_estimate(db)
    db.close()
    assert estimate
    return {*estimate.held_out.urls.values()}


def shown(path: Path) -> str:
    """What `lycosa show` prints, in one line."""
    return " ".join(CliRunner().invoke(app, ["show", str(path)]).output.split())


async def test_a_crawl_stops_when_enough_is_found_and_says_so(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    summary = await crawl(path, web)
    assert summary["ended"] == "limit of 80 % recall"
    assert summary["recall"]["held_out"]["found"] == summary["recall"]["held_out"]["of"] == 12
    assert 60 < summary["pages"] < 300
    assert json.loads((path / "summary.json").read_text())["recall"] == summary["recall"]
    assert "about 100 % found: 12 of 12 held-out pages (76-100 %); the harvest curve says " in shown(path)
    assert "ended: limit of 80 % recall" in shown(path)


async def test_the_next_run_stops_at_once_unless_more_is_wanted(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    first = await crawl(path, web)
    again = await crawl(path, web)
    assert (again["pages"], again["ended"]) == (first["pages"], "limit of 80 % recall")
    more = await crawl(path, web, "limits.recall=0.95")
    assert more["pages"] > first["pages"]
    assert more["ended"] == "frontier empty"


async def test_without_the_limit_it_goes_on(tmp_path: Path, web: Web) -> None:
    summary = await crawl(folder(tmp_path / "c", limits="pages = 1000"), web)
    assert summary["ended"] == "frontier empty"
    assert summary["recall"]["held_out"]["found"] == 12


async def test_what_is_set_aside_is_no_seed(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c", seeds='["http://good.test/", ' + ", ".join(f'"{url}"' for url in GOOD) + "]")
    started: list[str] = []
    await crawl(path, web, watch=lambda run: started.extend(seed.url for seed in run.start.seeds))
    assert len(started) == 1 + 48
    assert held_out(path) == {*GOOD} - {*started}


async def test_the_draw_is_made_once(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    await crawl(path, web, "limits.pages=5")
    before = held_out(path)
    (path / "known.txt").write_text("\n".join(f"http://else.test/{number}" for number in range(60)))
    await crawl(path, web, "limits.pages=10", "recall.seed=9")
    assert held_out(path) == before


async def test_a_run_in_parts_ends_as_one_in_a_piece(tmp_path: Path, web: Web) -> None:
    whole, parts = folder(tmp_path / "whole"), folder(tmp_path / "parts")
    for pages in (3, 40, 70):
        await crawl(parts, web, f"limits.pages={pages}")
    assert (await crawl(parts, web))["recall"] == (await crawl(whole, web))["recall"]


async def test_known_pages_may_be_named_later(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c", known=None, limits="pages = 40")
    await crawl(path, web)
    (path / "known.txt").write_text("\n".join(GOOD))
    summary = await crawl(path, web, 'recall.known="known.txt"')
    held = summary["recall"]["held_out"]
    assert held["of"] == 12
    with CrawlDb(path / "crawl.db", readonly=True).open()._db as db:
        fetched = {url for (url,) in db.execute("SELECT url FROM visits")}
    assert 0 < held["found"] == len(held_out(path) & fetched) < 12


async def test_a_seed_added_later_is_not_set_aside_any_more(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    await crawl(path, web, "limits.pages=2")
    told = sorted(held_out(path))[0]
    await crawl(path, web, watch=lambda run: [run.add([told])])
    assert told not in held_out(path)
    assert len(held_out(path)) == 11


async def test_too_few_known_pages_are_told_and_the_curve_decides(tmp_path: Path, web: Web) -> None:
    path, told = folder(tmp_path / "c", known=GOOD[:9]), list[str]()
    summary = await crawl(path, web, watch=lambda run: told.extend(run.skipped))
    sentence = "recall is estimated from the harvest curve only: at least 10 pages must be set aside, but only 9 can be"
    assert told == [sentence]
    assert summary["recall"]["problem"] == sentence
    assert summary["ended"] == "limit of 80 % recall"
    assert sentence in shown(path)


async def test_pages_out_of_scope_are_not_set_aside(tmp_path: Path, web: Web) -> None:
    known = [*GOOD[:5], *(f"http://far.test/{number}" for number in range(30))]
    path, told = folder(tmp_path / "c", known, scope='hosts = ["good.test"]'), list[str]()
    await crawl(path, web, watch=lambda run: told.extend(run.skipped))
    assert "only 5 can be (30 more are out of scope" in told[0]


async def test_judging_again_counts_every_page_once(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    before = await crawl(path, web)
    text = (path / "crawl.toml").read_text()
    (path / "crawl.toml").write_text(text.replace('["jaguar"]', '["jaguar", "weather"]'))
    rejudge_folder(path, lambda done, total: None)
    db = CrawlDb(path / "crawl.db", readonly=True).open()
    estimate = stored_estimate(db)
    db.close()
    assert estimate
    assert estimate.save()["curve"]["pages"] == before["pages"]
    assert len(estimate.held_out.found) == 12


async def test_judging_again_forgets_no_page_that_was_found(tmp_path: Path, web: Web) -> None:
    """Of the stored visits only the addresses at both ends of a redirect are known, not those between."""
    path = folder(tmp_path / "c", limits="pages = 1000")
    moved = Answer(301, (("Location", "http://good.test/there"),))
    for url in GOOD:
        web[url] = msgspec.structs.replace(moved, headers=(("Location", f"{url}/there"),))
        web.add(f"{url}/there", "jaguar", [])
        web[f"{url}/old"] = msgspec.structs.replace(moved, headers=(("Location", url),))
    web.add("http://good.test/", "nothing", [f"{url}/old" for url in GOOD])
    assert (await crawl(path, web))["recall"]["held_out"]["found"] == 12
    rejudge_folder(path, lambda done, total: None)
    assert "12 of 12 held-out pages" in shown(path)


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (["recall.known=missing.txt"], "recall.known: cannot read"),
        (['recall.known=["no url"]'], "recall.known: recall.known[0]: 'no url' is not a web URL"),
        (["recall.known=http://a.test/"], 'write known = ["http://a.test/"]'),
        (["limits.recall=80"], "limits.recall: expected a number < 1.0"),
        (["recall.share=0"], "recall.share: expected a number > 0.0"),
        (["recall.pages=3"], "recall.pages: unknown key"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, overrides: list[str], line: str) -> None:
    path = folder(tmp_path / "c")
    with pytest.raises(BadInput) as error:
        Run(path, *config.load(path, overrides), LabClock())
    assert line in str(error.value)
    assert "\n" not in str(error.value)


async def test_a_model_learns_nothing_from_what_is_set_aside(tmp_path: Path, web: Web) -> None:
    path = folder(tmp_path / "c")
    pages = [(url, Page(url=url)) for url in GOOD]
    read = without_held_out(path, lambda source: pages)
    assert len([*read(path)]) == 60  # nothing is set aside yet
    await crawl(path, web, "limits.pages=2")
    assert {name for name, _ in without_held_out(path, lambda source: pages)(path)} == {*GOOD} - held_out(path)


@pytest.mark.parametrize(("known", "moved"), [("known.txt", "../last/known.txt"), (GOOD, GOOD)], ids=["file", "list"])
def test_the_next_crawl_knows_the_same_pages(known: Any, moved: Any, tmp_path: Path) -> None:
    made = next_config({"recall": {"known": known, "share": 0.5}}, tmp_path / "last", tmp_path / "next")
    assert made["recall"] == {"known": moved, "share": 0.5}


async def test_a_crawl_that_wanders_off_says_so(tmp_path: Path) -> None:
    """From the animal to the car, by the word that they share."""
    web = Web()
    words = {"cats": CATS, "cars": CARS}
    for topic, other in (("cats", "cars"), ("cars", "")):
        for number in range(120):
            further = [f"http://{topic}{(number + 1) % 6}.test/{number + 1}"] if number < 119 else []
            further += [f"http://{other}0.test/0"] if other and number == 119 else []
            text = f"jaguar jaguar {words[topic]} {words[topic]} welcome home contact"
            web.add(f"http://{topic}{number % 6}.test/{number}", text, [*further, f"http://bad.test/{topic}{number}"])
            web.add(f"http://bad.test/{topic}{number}", "welcome home contact weather", [])
    path = folder(tmp_path / "c", None, seeds='["http://cats0.test/0"]', limits="pages = 1000")
    alone = await crawl(path, web, "limits.relevant=120")
    assert alone["drift"] == ""
    seen: list[str] = []
    summary = await crawl(path, web, "limits.relevant=230")
    assert "words that came: brake, dealer" in summary["drift"]
    assert "words that went: amazon, cub" in summary["drift"]
    await crawl(path, web, "limits.relevant=235", watch=lambda run: seen.append(run._status().status))
    assert seen == ["drift: now brake, dealer, engine, before amazon, cub, diet"]
    assert "words that came: brake, dealer" in shown(path)
