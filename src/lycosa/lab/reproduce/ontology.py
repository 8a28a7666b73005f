"""The ontology crawler (2004): does a map of the subject keep a crawl on it, and does link analysis help?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec import Struct

from lycosa.judge.ontology import Ontology
from lycosa.lab.generated import GeneratedWeb
from lycosa.lab.metrics import distances_of_best, harvest_curve, harvest_rate, link_distances, robustness
from lycosa.lab.one import Fetch, crawl_web, manner
from lycosa.lab.reproduce.measures import sampled
from lycosa.lab.reproduce.process_pool import Outcome
from lycosa.lab.reproduce.subject import check_map, subject
from lycosa.lab.reproduce.testbed import Request, Testbed, chosen, drawn, open_testbed, site
from lycosa.lab.significance import mean
from lycosa.strategy.ontology import OntologyStrategy
from lycosa.types import BadInput, Effects, Link, Reply, Visit

PAGES = 1_200
TARGETS = 6
DRAWS = 4  # of seeds, on a recorded web
SEEDS, HALF = 14, 20
LIMITS = (0.01, 0.02)
SAMPLE = 20  # pages per class from which the fixed table of frequencies is counted
MINIMUM, TOP, PER_HOST = 20, 100, 10  # a fifth of the crawler's default, because the crawls are short
BEST = 100

PUBLISHED = {  # run: harvest rate at the limits .01 and .02
    "focused": ("≈ .60, slight rise", "≈ .55"),
    "unfocused": ("falls, above .20", "≈ .15"),
    "unfocused, irrelevant seeds": ("≈ .10, slight rise", ".05, rising to ≈ .10"),
}
FOCUSED, UNFOCUSED, STRAY = PUBLISHED


class Job(Struct, frozen=True):
    """All crawls for one topic."""

    request: Request
    site: GeneratedWeb
    target: str
    draw: int  # of the seeds
    pages: int


class Run(Struct, frozen=True):
    """One of them."""

    seeds: Sequence[str]
    focused: bool = True
    limit: float = LIMITS[1]
    analysis: bool = True
    frozen: bool = True  # use a common table of concept frequencies?


@dataclass
class Watched(OntologyStrategy):
    """The strategy, with or without link analysis, that also records the links of pages."""

    analyses: bool = True

    links_: dict[str, list[str]] = field(init=False, repr=False, default_factory=dict)

    def learn(self, visit: Visit) -> None:
        super().learn(visit)
        self.links_[visit.reply.link.url] = [link.url for link in visit.page.links]

    def effects(self) -> Effects:
        return super().effects() if self.analyses else Effects()


class Crawled(Struct, frozen=True):
    """The measures of a crawl."""

    fetches: Sequence[Fetch]
    links: Mapping[str, list[str]]
    hours: Mapping[str, float]


def plan(request: Request) -> list[Job]:
    """One job per topic; on a recorded web one topic, that of the map, from several sets of seeds."""
    made, pages = site(request.seed), request.pages or PAGES
    if not request.web:
        topics = chosen(request, open_testbed(request, made), TARGETS)
        return [Job(request, made, target, 0, pages) for target in topics]
    if not request.topic_map:
        raise BadInput("--map: a recorded web needs a topic map or ontology of the subject")
    check_map(request)
    target = chosen(request, open_testbed(request, made), 1)[0]
    return [Job(request, made, target, draw, pages) for draw in range(DRAWS)]


def work(job: Job) -> Outcome:
    """Crawl focused and unfocused, from relevant and irrelevant seeds, with and without link analysis, from halves."""
    ground = open_testbed(job.request, job.site)
    listed = drawn(ground, job.target, job.request.seed * 100 + job.draw)
    count = min(SEEDS, len(listed) // 4)
    half = min(HALF, (len(listed) - count) // 3)
    if not count or not half:
        raise BadInput(f"--target: {len(listed)} pages of {job.target!r} are too few to sample seeds from")
    seeds, others = listed[:count], listed[count:]
    runs = {
        **{f"{FOCUSED} {limit}": Run(seeds, limit=limit) for limit in LIMITS},
        UNFOCUSED: Run(seeds, focused=False),
        STRAY: Run(strays(ground, job, count), focused=False),
        "without analysis": Run(seeds, analysis=False),
        "one half": Run(others[:half]),
        "other half": Run(others[half : 2 * half]),
        "own focused": Run(seeds, frozen=False),
        "own unfocused": Run(seeds, focused=False, frozen=False),
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        file, focus = subject(job.request, job.target, folder)
        count_concepts(ground, file, folder)
        crawls = {run: _crawl(job, settings, file, focus, folder) for run, settings in runs.items()}
    return _figures(job, ground, crawls, seeds)


def strays(ground: Testbed, job: Job, count: int) -> list[str]:
    """Seeds that are unrelated to the topic."""
    random = Random(f"strays {job.request.seed} {job.draw} {job.target}")
    elsewhere = [page for label in ground.classes if label != job.target for page in ground.listed(label)]
    return random.sample(elsewhere, min(count, len(elsewhere)))


def count_concepts(ground: Testbed, file: str, folder: Path) -> None:
    """A table of how many pages name each concept, shared by all crawls so that they can be compared."""
    judge = Ontology(file)
    judge.prepare(folder, lambda _: [])
    for label in ground.classes:
        for _, page in ground.examples(label, SAMPLE):
            judge.learn(Visit(Reply(Link(page.url)), page, digest=page.url or "a page"))
    judge.write_idf(folder / "idf.tsv")


def _crawl(job: Job, run: Run, file: str, focus: list[str], folder: Path) -> Crawled:
    judge = Ontology(file, focus=focus, limit=run.limit, idf="idf.tsv" if run.frozen else "")
    judge.prepare(folder, lambda _: [])
    strategy = Watched(focused=run.focused, minimum=MINIMUM, top=TOP, per_host=PER_HOST, analyses=run.analysis)
    web = open_testbed(job.request, job.site).web
    crawl = crawl_web(web, run.seeds, judge, strategy, job.pages, **manner(job.request.field))
    return Crawled(crawl.pages, strategy.links_, crawl.hours)


def _figures(job: Job, ground: Testbed, crawls: Mapping[str, Crawled], seeds: Sequence[str]) -> Outcome:
    rates = {}
    for run, crawl in crawls.items():
        limits = LIMITS if run in (UNFOCUSED, STRAY) else (_limit(run),)
        for limit in limits:
            name = run if run.startswith(FOCUSED) else f"{run} {limit}"
            rates[name] = {**_rates(job, ground, crawl.fetches, limit), **crawl.hours}
    halves = [_relevant(ground, crawls[run]) for run in ("one half", "other half")]
    n = min(map(len, halves))
    known = {page for crawl in crawls.values() for page in _relevant(ground, crawl)}
    return {
        "target": job.target,
        "draw": job.draw,
        "rates": rates,
        "robustness": {"pages": n, "overlap": robustness(*halves), "by_chance": n / max(1, len(known))},
        "own_frequencies": _inflation(ground, crawls["own focused"], crawls["own unfocused"]),
        "distance": {run: _distance(crawls[run], seeds) for run in (f"{FOCUSED} {LIMITS[1]}", UNFOCUSED)},
    }


def _limit(run: str) -> float:
    return LIMITS[0] if run.endswith(str(LIMITS[0])) else LIMITS[1]


def _rates(job: Job, ground: Testbed, fetches: Sequence[Fetch], limit: float) -> Outcome:
    relevant = [fetch.relevance >= limit for fetch in fetches]
    quarter = max(1, len(relevant) // 4)
    truly = [ground.truth(ground.web.page(fetch.final_url)) == job.target for fetch in fetches]
    return {
        "pages": len(relevant),
        "harvest": harvest_rate(relevant),
        "first_quarter": harvest_rate(relevant[:quarter]),
        "last_quarter": harvest_rate(relevant, quarter),
        "true_harvest": harvest_rate(truly),
        "curve": sampled(harvest_curve(relevant), job.pages),
    }


def _relevant(ground: Testbed, crawl: Crawled) -> list[str]:
    return [ground.web.page(fetch.final_url) for fetch in crawl.fetches if fetch.on_topic]


def _inflation(ground: Testbed, focused: Crawled, unfocused: Crawled) -> Outcome:
    """How much higher the same page scores in the unfocused crawl if each crawl counts its own frequencies."""
    one, other = (
        {ground.web.page(fetch.final_url): fetch.relevance for fetch in crawl.fetches} for crawl in (focused, unfocused)
    )
    both = [page for page in one if one[page] > 0 and other.get(page, 0.0) > 0]
    values = [[found[page] for page in both] or [0.0] for found in (one, other)]
    return {"pages": len(both), "focused": mean(values[0]), "unfocused": mean(values[1])}


def _distance(crawl: Crawled, seeds: Sequence[str]) -> float:
    """Mean clicks from the seeds to the most relevant pages, along links of the crawl."""
    relevances = {fetch.url: fetch.relevance for fetch in crawl.fetches}
    clicks = link_distances(lambda url: crawl.links.get(url, ()), seeds)
    found = [distance for distance in distances_of_best(relevances, clicks, BEST) if distance is not None]
    return mean([float(distance) for distance in found]) if found else 0.0
