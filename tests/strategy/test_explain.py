"""Every strategy says why a link has its score, and what it says is true: on every visit of whole crawls."""

import asyncio
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lycosa import config
from lycosa.build import Parts
from lycosa.lab.clock import LabClock
from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.replay import ReplayFetcher, SiteWeb
from lycosa.output.why import read_path, scored
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.strategy import STRATEGIES, rule_base
from lycosa.strategy.reasons import HELD_BACK, IN_WORDS
from lycosa.types import Explains, Explanation, Lease, Link, Notes, Origin, Reply, Scored, Verdict

WEB = GeneratedWeb(
    pages=2_000,
    hosts=8,
    seed=4,
    text=Text(size_bytes=(800, 2_000)),
    links=Links(count=(10, 50)),
    oddities=Oddities(redirects=0.05, duplicates=0.05),
)
TOPICS = {
    "keywords": 'kind = "keywords"\nwords = ["astronomy", "telescope", "planet", "galaxy"]',
    "examples": 'kind = "examples"\nexamples = "tree"\ntarget = ["astronomy"]',
    "taxonomy": 'kind = "taxonomy"\nexamples = "tree"\ntarget = ["astronomy"]\nmin_pages = 1',
    "tids": 'kind = "tids"\nexamples = "tree/astronomy"\nidf = "smooth"',
}
OF_ITS_OWN = {"rules": "taxonomy", "tids": "tids"}
OPTIONS = {"opic": "list_size = 7", "otie": "list_size = 5", "ontology": "minimum = 5\ntop = 20"}
SUBJECTS = ["astronomy", "cooking", "law"]


class Unhurried:
    """Answers come in another order than requests go out, so that links are in flight while scores change."""

    def __init__(self, inner: ReplayFetcher) -> None:
        self.inner = inner
        self.chance = random.Random(1)

    async def fetch(self, lease: Lease) -> Reply:
        for _ in range(self.chance.randrange(12)):
            await asyncio.sleep(0)
        return await self.inner.fetch(lease)


def write(folder: Path, strategy: str, topic: str) -> Path:
    for name in SUBJECTS:
        (folder / "tree" / name).mkdir(parents=True)
        page = WEB.page(WEB.seeds(80, 1, name)[0])
        assert page
        for number in range(4):
            (folder / "tree" / name / f"{number}.html").write_bytes(page.body[number * 100 :])
    if strategy == "rules":
        rule_base.save(rule_base.RuleBase(SUBJECTS, {"law": {"astronomy": 3, "law": 1}}), folder / "rules.json")
    (folder / "crawl.toml").write_text(
        f"seeds = {WEB.seeds(80)!r}\n[topic]\n{TOPICS[topic]}\n[strategy]\nkind = '{strategy}'\n"
        f"{OPTIONS.get(strategy, '')}\n[fetch]\nconcurrency = 8\ndelay_s = 0.0\ndelay_factor = 0.0\n"
    )
    return folder


async def crawl(folder: Path, pages: int) -> None:
    clock = LabClock()

    def unhurried(parts: Parts) -> Unhurried:
        rules, hop = parts.config.fetch, parts.frontier.refuses_hop
        return Unhurried(ReplayFetcher(SiteWeb(WEB), rules, clock.now, hop, parts.db))

    run = Run(folder, *config.load(folder, [f"limits.pages={pages}"]), clock, fetcher=unhurried)
    await run.run([], lambda summary: None)


def explanations(folder: Path, strategy: str) -> list[tuple[Scored, Explanation]]:
    """Of all that was fetched and of some that wait, as `why` reads them; seeds explain themselves."""
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    explainer: Any = msgspec.convert(msgspec.toml.decode(OPTIONS.get(strategy, "")), STRATEGIES[strategy])
    assert isinstance(explainer, Explains)
    rows = db.execute("SELECT url FROM visits ORDER BY n").fetchall()
    for order in ("score", "score DESC", f"abs(score - {HELD_BACK / 2})"):
        rows += db.execute(f"SELECT url FROM urls WHERE state = 0 ORDER BY {order}, id LIMIT 60").fetchall()
    found = [scored(read_path(db, url)) for (url,) in rows]
    told = [(link, explainer.explain(link, db)) for link in found if link.link.origin == Origin.PAGE]
    db.close()
    return told


@pytest.mark.parametrize("topic", ["keywords", "examples", "taxonomy"])
async def test_the_evidence_of_every_visit_adds_up_to_its_score(topic: str, tmp_path: Path) -> None:
    """Also of links that were in flight while their siblings came back, and over a restart."""
    folder = write(tmp_path / "c", "learned", topic)
    await crawl(folder, 90)
    await crawl(folder, 180)
    kinds: Counter[str] = Counter()
    for link, told in explanations(folder, "learned"):
        where = "fetched" if link.fetched else "waits"
        if told.parts:
            log_odds = math.log(link.score / (1 - link.score))
            assert sum(told.parts.values()) == pytest.approx(log_odds, abs=0.0006), link
            kinds[f"{where} by evidence"] += 1
        elif "exploring" in told.because:
            assert link.score == 1.0
            kinds[f"{where} in turn"] += 1
        elif "redirected" in told.because:
            kinds[f"{where} by a redirect"] += 1
        else:
            assert "held back" in told.because, (link, told)
            assert link.score <= HELD_BACK
            kinds[f"{where} held back"] += 1
    assert kinds["fetched by evidence"] > 120
    assert kinds["fetched in turn"] > 0
    assert kinds["waits by evidence"] > 0
    assert kinds["waits held back"] > 0


async def test_a_page_is_not_its_own_twin(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", "learned", "keywords")
    await crawl(folder, 150)
    fetched = [told for link, told in explanations(folder, "learned") if link.fetched]
    assert sum(IN_WORDS["twin"] in told.parts for told in fetched) < len(fetched) / 10


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"learned"}))
async def test_every_strategy_explains_every_score(strategy: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "c", strategy, OF_ITS_OWN.get(strategy, "keywords"))
    await crawl(folder, 80)
    found = explanations(folder, strategy)
    assert len(found) > 20
    for link, told in found:
        assert told.because
        if told.parts:
            assert sum(told.parts.values()) == pytest.approx(link.score)
            assert all(part >= -1e-9 for part in told.parts.values()), (link, told)
        if told.because.startswith("the page it was found on has relevance"):
            assert link.source
            assert link.source.relevance == link.score


def explain(strategy: str, link: Scored, **options: Any) -> str:
    class Nothing:
        """No notes were left."""

        def get(self, key: str, default: str = "") -> str:
            return default

        def noted(self, key: str) -> str:
            return ""

        def notes(self, prefix: str, containing: str = "") -> list[tuple[str, str]]:
            return []

    notes: Notes = Nothing()
    told: Explanation = STRATEGIES[strategy](**options).explain(link, notes)
    return told.because


def on(
    score: float, relevance: float = 0.8, on_topic: bool = True, uncorrected: float | None = None, **more: Any
) -> Scored:
    verdict = Verdict(relevance, on_topic, "DH", uncorrected=uncorrected)
    return Scored(Link("http://a/", "http://b/", "more", 2), score, True, verdict, **more)


@pytest.mark.parametrize(
    ("strategy", "link", "options", "because"),
    [
        ("best-first", on(0.8), {}, "the page it was found on has relevance 0.8000"),
        ("best-first", on(0.7), {}, "the page it was found on had relevance 0.7000 then"),
        ("best-first", on(0.9, uncorrected=0.9), {}, "the page it was found on has relevance before labels 0.9000"),
        ("best-first", on(0.8, uncorrected=0.3), {}, "the page it was found on has relevance 0.8000"),
        ("hard-focus", on(0.8), {}, "the page it was found on has relevance 0.8000 and is on topic"),
        ("hard-focus", on(0.8, on_topic=False, from_seed=True), {}, "is a seed, whose links are followed"),
        (
            "link-context",
            on(0.35),
            {},
            "the words around it have relevance 0.2000 and the page it was found on has relevance 0.8000",
        ),
        ("link-context", on(0.375, uncorrected=0.9), {}, "page it was found on has relevance before labels 0.9000"),
        ("link-context", on(0.8), {"beta": 1.0}, "the words around it have relevance 0.0000"),
        ("rules", on(0.4), {}, "pages of class 'DH' lead to the target with probability 0.4000, by the rules"),
        ("rules", on(0.8), {}, "no rule says where pages of class 'DH' lead to"),
        ("rules", on(0.4), {"calibrate": True}, "or, without one, by its relevance, calibrated"),
        ("rules", on(0.4), {"expected": True}, "pages of the classes of its page lead to the target"),
        ("tids", on(95.0), {}, "the page it was found on has similarity 80.00 and its anchor 15.00"),
        ("tids", on(95.0), {"consecutive": True}, "add up to 95.00"),
        ("publications", on(0.9), {}, "its URL is of class 'homepage', which has priority 0.9"),
        ("publications", on(0.5), {}, "the class of its URL has no priority"),
        ("opic", on(0.01), {}, "pages that link to it passed on their cash"),
        ("opic", Scored(Link("http://a/", origin=Origin.SEED), 0.5, True), {}, "that is the cash of a seed"),
        ("otie", on(0.01), {}, "pages that link to it passed on cash in proportion to its predicted relevance"),
        ("otie", Scored(Link("http://a/", origin=Origin.SEED), 0.5, True), {}, "that is the cash of a seed"),
        ("ontology", on(1.25), {}, "link analysis (nutch) chose it with a value of 0.2500"),
        ("ontology", on(0.0), {}, "no link analysis chose it yet"),
        ("ontology", on(0.8), {"by_relevance": True}, "relevance 0.8000, and no link analysis chose it yet"),
        ("breadth-first", on(1.0), {}, "in the order in which they are found"),
        ("learned", on(0.5), {}, "a sitemap, a search or a link that was redirected to it"),
    ],
)
def test_in_words(strategy: str, link: Scored, options: dict[str, Any], because: str) -> None:
    assert because in explain(strategy, link, **options)


@pytest.mark.parametrize("strategy", ["best-first", "hard-focus", "link-context", "rules", "tids"])
def test_a_score_that_came_from_outside(strategy: str) -> None:
    assert (
        explain(strategy, Scored(Link("http://a/"), 1.0, True))
        == "a sitemap, a search or a link that was redirected to it gave it this score"
    )
