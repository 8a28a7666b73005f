"""All stored pages judged again: the state is that of a crawl which made the same visits with the new topic."""

import asyncio
import json
import signal
import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lycosa import config, offline, rejudge
from lycosa.build import Parts
from lycosa.judge import JUDGES
from lycosa.lab.clock import LabClock
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.replay import ReplayFetcher, SiteWeb
from lycosa.locking import lock
from lycosa.rejudge import Report, rejudge_folder
from lycosa.run import Run
from lycosa.types import BadInput, Page, Revised, Verdict, Visit

WEB = GeneratedWeb(
    pages=200,
    hosts=8,
    seed=4,
    text=Text(size_bytes=(800, 2_000)),
    links=Links(count=(5, 15)),
    oddities=Oddities(redirects=0.1, duplicates=0.1),
)
KEYWORDS = 'kind = "keywords"\nwords = ["astronomy", "telescope", "planet", "galaxy"]\n'
SENTENCE = 'kind = "sentence"\nsentence = "Astronomy: telescopes, planets and galaxies."\n'
OTHER_WORDS = 'kind = "keywords"\nwords = ["court", "law"]\n'
TIDS = 'kind = "tids"\nexamples = "pages"\nidf = "smooth"\n'
ONTOLOGY = 'kind = "ontology"\nfile = "map.ttl"\n'
EXAMPLES = 'kind = "examples"\nexamples = "labelled"\nmodel = "nb"\n'
TOPICS = {"keywords": KEYWORDS, "tids": TIDS, "ontology": ONTOLOGY, "examples": EXAMPLES}
STRATEGIES = {
    "breadth-first": "",
    "best-first": "",
    "hard-focus": "",
    "learned": "",
    "link-context": "",
    "opic": "list_size = 7",
    "otie": "list_size = 5",
    "ontology": "minimum = 5\ntop = 20",
    "publications": "",
}
TABLES = {
    "visits": "SELECT * FROM visits ORDER BY n",
    "urls": "SELECT url, score, state FROM urls ORDER BY url",
    "links": "SELECT count(*), sum(length(targets)) FROM links",
    "notes": "SELECT * FROM notes ORDER BY key",
    "hosts": "SELECT name, delay_s, failures, pages, closed FROM hosts ORDER BY name",
}


def write(folder: Path, topic: str, strategy: str = "best-first", options: str = "", more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, label in {"pages": "astronomy", "labelled/positive": "astronomy", "labelled/negative": "cooking"}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        page = WEB.page(WEB.seeds(80, 1, label)[0])
        assert page
        for number in range(4):
            (folder / name / f"{number}.html").write_bytes(page.body[100 * number :])
    words = " ; ".join(f'skos:altLabel "{word}"' for word in ("astronomy", "telescope"))
    prefix = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    (folder / "map.ttl").write_text(f'{prefix}<http://x.example/sky> skos:prefLabel "sky" ; {words} .\n')
    (folder / "crawl.toml").write_text(
        f"seeds = {WEB.seeds(80)!r}\n[topic]\n{topic}[strategy]\nkind = '{strategy}'\n{options}\n"
        f"[fetch]\nconcurrency = 1\ndelay_s = 0.0\ndelay_factor = 0.0\n{more}"
    )
    return folder


async def crawl(folder: Path, pages: int = 60) -> None:
    clock = LabClock()

    def replay(parts: Parts) -> ReplayFetcher:
        return ReplayFetcher(SiteWeb(WEB), parts.config.fetch, clock.now, parts.frontier.refuses_hop, parts.db)

    run = Run(folder, *config.load(folder, [f"limits.pages={pages}"]), clock, fetcher=replay)
    await run.run([], lambda summary: None)


async def judged_again(folder: Path) -> Report:
    return await asyncio.to_thread(rejudge_folder, folder, lambda done, total: None)


def select(folder: Path, sql: str) -> list[Any]:
    with sqlite3.connect(folder / "crawl.db") as db:
        return db.execute(sql).fetchall()


def content(folder: Path) -> dict[str, Any]:
    found = {table: select(folder, sql) for table, sql in TABLES.items()}
    meta = dict(select(folder, "SELECT key, value FROM meta"))
    return found | {
        name: meta.get(name) or "" for name in ("state:judge", "state:strategy", "refused", "topic", "ended")
    }


# -- the same topic ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name not in ("opic", "otie")])
async def test_the_same_topic_changes_nothing(strategy: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS, strategy, STRATEGIES[strategy])
    await crawl(folder)
    before = content(folder)
    report = await judged_again(folder)
    after = content(folder)
    assert after == before
    assert report.pages == len(select(folder, "SELECT 1 FROM visits WHERE relevance IS NOT NULL")) > 20
    assert (report.now_relevant, report.no_longer, report.dropped) == (0, 0, 0)
    assert report.waiting == len([1 for _, _, state in after["urls"] if state == 0])


@dataclass
class Wavering:
    """Calls a page irrelevant, and thinks better of every tenth."""

    seen_: list[str] = field(init=False, repr=False, default_factory=list)

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.2)

    def learn(self, visit: Visit) -> None:
        self.seen_ += [visit.reply.link.url] * visit.is_distinct

    def revised(self) -> Revised:
        ripe, self.seen_ = (self.seen_[:1], []) if len(self.seen_) == 10 else ([], self.seen_)
        return [(url, Verdict(0.8, True)) for url in ripe]


async def test_a_judge_that_changes_its_mind_does_so_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JUDGES, "wavering", Wavering)
    folder = write(tmp_path / "c", 'kind = "wavering"\n')
    await crawl(folder)
    before = content(folder)
    assert select(folder, "SELECT count(*) FROM visits WHERE on_topic") == [(6,)]
    report = await judged_again(folder)
    assert content(folder)["visits"] == before["visits"]
    assert (report.now_relevant, report.no_longer) == (0, 0)


@pytest.mark.parametrize("strategy", ["opic", "otie"])
async def test_with_lists_the_money_is_where_the_links_lead(strategy: str, tmp_path: Path) -> None:
    """Which list a page was on is not stored, so the last digits may differ: not what waits, nor the verdicts."""
    folder = write(tmp_path / "c", KEYWORDS, strategy, STRATEGIES[strategy])
    await crawl(folder)
    before = content(folder)
    report = await judged_again(folder)
    after = content(folder)
    assert [row[:-11] for row in after["visits"]] == [row[:-11] for row in before["visits"]]
    assert [(url, state) for url, _, state in after["urls"]] == [(url, state) for url, _, state in before["urls"]]
    assert (report.now_relevant, report.no_longer) == (0, 0)
    await crawl(folder, 80)
    assert select(folder, "SELECT count(*) FROM visits WHERE error = '' AND duplicate_of = ''") == [(80,)]


async def test_the_crawl_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    folders = [write(tmp_path / name, KEYWORDS, "learned") for name in ("one", "two")]
    for folder in folders:
        await crawl(folder)
    await judged_again(folders[1])
    for folder in folders:
        await crawl(folder, 100)
    one, two = (select(folder, "SELECT url, score, relevance FROM visits ORDER BY n") for folder in folders)
    assert one == two


VERDICTS = "SELECT url, on_topic, round(relevance, 2) FROM visits ORDER BY n"


@pytest.mark.parametrize("topic", [KEYWORDS, SENTENCE, EXAMPLES], ids=["keywords", "sentence", "examples"])
async def test_labels_given_in_the_middle_of_a_crawl_mean_the_same_again(topic: str, tmp_path: Path) -> None:
    """What labels teach depends on the pages fetched by then, and judging again must not draw other conclusions."""
    folder = write(tmp_path / "c", topic)
    await crawl(folder, 40)
    urls = [url for (url,) in select(folder, "SELECT url FROM visits WHERE on_topic IS NOT NULL ORDER BY n")]
    offline.label(folder, {url: number % 2 > 0 for number, url in enumerate(urls[:24])}, "import")
    await crawl(folder, 110)
    before = select(folder, VERDICTS)
    report = await judged_again(folder)
    assert (report.now_relevant, report.no_longer) == (0, 0)
    assert select(folder, VERDICTS) == before
    await crawl(folder, 111)
    assert select(folder, VERDICTS)[: len(before)] == before


async def test_labels_that_no_crawl_has_applied_count_all_the_same(tmp_path: Path) -> None:
    folders = [write(tmp_path / name, KEYWORDS) for name in ("applied", "not")]
    for folder in folders:
        await crawl(folder, 40)
        urls = [url for (url,) in select(folder, "SELECT url FROM visits WHERE on_topic IS NOT NULL ORDER BY n")]
        offline.label(folder, {url: number % 2 > 0 for number, url in enumerate(urls[:24])}, "import")
    assert await asyncio.to_thread(offline.apply_labels, folders[0])
    for folder in folders:
        await judged_again(folder)
    assert select(folders[0], VERDICTS) == select(folders[1], VERDICTS)


# -- another topic ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", TOPICS)
@pytest.mark.parametrize("after", TOPICS)
async def test_every_change_of_kind_is_refused_until_the_pages_are_judged_again(
    before: str, after: str, tmp_path: Path
) -> None:
    if before == after:
        return
    folder = write(tmp_path / "c", TOPICS[before])
    await crawl(folder, 20)
    kept = content(folder)
    write(folder, TOPICS[after])
    with pytest.raises(BadInput) as error:
        await crawl(folder, 25)
    said = f"the topic has changed since its pages were judged (kind was {before} and is {after}); make a new folder"
    assert str(error.value) == f"{folder}: {said}, or judge the stored pages again: lycosa rejudge {folder}"
    assert content(folder) == kept
    await judged_again(folder)
    await crawl(folder, 25)
    fresh = write(tmp_path / "fresh", TOPICS[after])
    await crawl(fresh, 60)
    verdicts = dict(select(fresh, "SELECT url, relevance > 0 FROM visits WHERE relevance IS NOT NULL"))
    mine = dict(select(folder, "SELECT url, relevance > 0 FROM visits WHERE relevance IS NOT NULL"))
    both = mine.keys() & verdicts.keys()
    if after != "tids":  # whose table depends on the order
        assert {url: mine[url] for url in both} == {url: verdicts[url] for url in both}


async def test_the_report_counts_what_has_changed(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS, "hard-focus")
    await crawl(folder)
    before = dict(select(folder, "SELECT n, on_topic FROM visits"))
    waited = {url for (url,) in select(folder, "SELECT url FROM urls WHERE state = 0")}
    write(folder, OTHER_WORDS, "hard-focus")
    report = await judged_again(folder)
    after = dict(select(folder, "SELECT n, on_topic FROM visits"))
    waits = {url for (url,) in select(folder, "SELECT url FROM urls WHERE state = 0")}
    assert report.now_relevant == sum(after[n] > before[n] for n in before) > 0
    assert report.no_longer == sum(after[n] < before[n] for n in before) > 0
    assert (report.waiting, report.dropped) == (len(waits), len(waited - waits))
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["relevant"] == sum(after.values())
    assert summary["waiting"] == len(waits)
    await crawl(folder, 70)  # with the new topic, and no complaint


async def test_what_waits_is_scored_by_the_new_topic(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS, "best-first")
    await crawl(folder)
    write(folder, OTHER_WORDS, "best-first")
    await judged_again(folder)
    rows = select(
        folder,
        "SELECT u.score, v.relevance FROM urls u JOIN urls s ON s.id = u.source JOIN visits v ON v.url = s.url"
        " WHERE u.state = 0 AND v.relevance IS NOT NULL",
    )
    assert len(rows) > 20
    assert all(score == pytest.approx(relevance) for score, relevance in rows)


async def test_another_strategy_takes_the_stored_pages_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS, "breadth-first")
    await crawl(folder)
    write(folder, KEYWORDS, "learned")
    with pytest.raises(BadInput, match="began with strategy breadth-first; make a new folder for learned, or judge"):
        await crawl(folder, 70)
    await judged_again(folder)
    await crawl(folder, 70)
    assert select(folder, "SELECT value FROM meta WHERE key = 'strategy'") == [("learned",)]


async def test_seeds_of_the_command_line_stay_seeds(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS)
    await crawl(folder)
    seeds = select(folder, "SELECT url FROM urls WHERE source = 0 ORDER BY id")
    text = (folder / "crawl.toml").read_text()
    (folder / "crawl.toml").write_text(text.replace(text.splitlines()[0], "seeds = []"))
    await judged_again(folder)
    assert select(folder, "SELECT url FROM urls WHERE source = 0 ORDER BY id") == seeds


# -- what is in the way -----------------------------------------------------------------------------------------------


async def test_without_a_warc(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS, more="[store]\nwarc = false\n")
    await crawl(folder, 10)
    with pytest.raises(BadInput, match=r"crawl\.toml, line \d+: store\.warc: no page was stored, so none can be"):
        await judged_again(folder)
    write(folder, OTHER_WORDS, more="[store]\nwarc = false\n")
    with pytest.raises(BadInput, match=r"court, law added; .*; make a new folder$"):
        await crawl(folder, 12)
    write(folder, OTHER_WORDS)
    with pytest.raises(BadInput, match="10 pages are not in the WARC"):
        await judged_again(folder)


async def test_nothing_crawled_yet_and_another_at_work(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS)
    with pytest.raises(BadInput, match="nothing crawled yet"):
        await judged_again(folder)
    assert not (folder / "crawl.db").exists()
    await crawl(folder, 5)
    with lock(folder), pytest.raises(BadInput, match="another lycosa is at work"):
        await judged_again(folder)


async def test_a_torn_warc_changes_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", KEYWORDS)
    await crawl(folder, 30)
    write(folder, OTHER_WORDS)
    before = content(folder)
    (warc,) = (folder / "warc").iterdir()
    warc.write_bytes(warc.read_bytes()[:-20_000])
    with pytest.raises(BadInput, match=r"lycosa-00001\.warc\.gz: "):
        await judged_again(folder)
    assert content(folder) == before
    warc.unlink()
    with pytest.raises(BadInput, match=r"lycosa-00001\.warc\.gz: "):
        await judged_again(folder)
    assert content(folder) == before


async def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "c", KEYWORDS)
    await crawl(folder, 30)
    write(folder, OTHER_WORDS)
    before = content(folder)

    def full(self: Any, visit: Any) -> None:
        self.parts.db.execute("PRAGMA max_page_count = 1")
        self.parts.db.put("much", "x" * 10_000_000)

    monkeypatch.setattr(rejudge.Replay, "write", full)
    with pytest.raises(BadInput, match=r"the disk is full or cannot be written \(.*\); nothing was changed"):
        await judged_again(folder)
    assert content(folder) == before


SLOW = """
import sys
from lycosa import cli, rejudge
write = rejudge.Replay.write
def slow(self, visit):
    write(self, visit)
    if self._now.kept.n == 20:
        print("half-way", flush=True)
        sys.stdin.readline()
rejudge.Replay.write = slow
sys.argv = ["lycosa", "rejudge", sys.argv[1]]
cli.main()
"""


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_ended_half_way_it_has_changed_nothing(tmp_path: Path, number: signal.Signals) -> None:
    folder = write(tmp_path / "c", KEYWORDS)
    await crawl(folder, 40)
    write(folder, OTHER_WORDS)
    before = content(folder)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SLOW, str(folder)), stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert process.stdout
    assert await process.stdout.readline() == b"half-way\n"
    process.send_signal(number)
    out, errors = await process.communicate(b"\n")
    if number == signal.SIGINT:
        assert (process.returncode, out, errors) == (130, b"", b"lycosa: stopped; nothing was changed\n")
    assert content(folder) == before
    report = await judged_again(folder)
    assert report.now_relevant + report.no_longer > 0
