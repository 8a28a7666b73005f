"""Rules between classes (2004): does knowing which classes link to which guide a crawl better than relevance alone?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from lycosa.judge.classifier import Classifier
from lycosa.judge.taxonomy import Taxonomy
from lycosa.lab.generated import GeneratedWeb, Links
from lycosa.lab.metrics import exclusive_harvest, harvest_ratio, overlap, running_mean
from lycosa.lab.one import LabCrawl, crawl_web, manner
from lycosa.lab.reproduce.effects import Effect, Pair, alike, better, cannot, is_true
from lycosa.lab.reproduce.measures import averaged, marks, sampled
from lycosa.lab.reproduce.pictures import Line, Panel, Picture
from lycosa.lab.reproduce.process_pool import Outcome
from lycosa.lab.reproduce.report import Report, Table
from lycosa.lab.reproduce.testbed import TOPICS, Request, chosen, drawn, open_testbed, site, teach
from lycosa.lab.significance import mean
from lycosa.strategy.best_first import BestFirst
from lycosa.strategy.rule_base import RuleBase, count
from lycosa.strategy.rules import Rules
from lycosa.types import BadInput, Strategy

PAGES = 1_000
TARGETS, WEBS = 3, 2
SET = 10  # seeds per set
MANY = 50  # seeds of the additional run
EXAMPLES = 30  # pages per class
LINKED = 120  # pages linked from the examples, per class
FAMILY = 4  # classes that link to each other in a ring
SHARES = ((0.15, 0.45), (0.30, 0.30), (0.45, 0.15))  # of links to the same class and to the next; first the premise
BESIDE = 0.15  # to the other classes of the family; the remaining links lead anywhere
BASE, RULED = "soft focus", "rules"

PUBLISHED = (  # topic, seed set, harvest ratio of both, overlap, exclusive harvest ratio of both
    ("Quantum mechanics", 1, 0.28, 0.30, 0.10, 0.27, 0.29),
    ("Quantum mechanics", 2, 0.25, 0.29, 0.16, 0.23, 0.28),
    ("Computer history", 1, 0.29, 0.40, 0.27, 0.26, 0.39),
    ("Computer history", 2, 0.36, 0.37, 0.22, 0.35, 0.37),
    ("Open source", 1, 0.52, 0.56, 0.10, 0.51, 0.54),
    ("Open source", 2, 0.48, 0.61, 0.08, 0.47, 0.61),
)


class Job(Struct, frozen=True):
    """Both crawlers from the same seeds."""

    request: Request
    site: GeneratedWeb
    target: str
    seeds: tuple[str, ...]
    pages: int
    run: str  # "set 1", "set 2", "50 seeds", or the link shares of another kind of web


@dataclass
class SoftFocus(BestFirst):
    """The paper's baseline: if a URL is found again, its first score stays."""

    def merge(self, waiting: float, found: float) -> float:
        return waiting


def plan(request: Request) -> list[Job]:
    """Three targets, two disjoint sets of seeds each, on two webs; also from many seeds, and on other webs."""
    pages = request.pages or PAGES
    jobs: list[Job] = []
    for number in range(1 if request.web else WEBS):
        jobs += _jobs(request, ringed(request.seed + number, *SHARES[0]), pages, ("set 1", "set 2"))
    for own, following in () if request.web else SHARES[1:]:
        jobs += _jobs(request, ringed(request.seed, own, following), pages, (name_of(own, following),) * 2)
    for job in [job for job in jobs if job.run == "set 1"]:
        many = drawn(open_testbed(request, job.site), job.target, request.seed)[:MANY]
        if len(many) == MANY:
            jobs.append(replace(job, seeds=tuple(many), run="50 seeds"))
    return jobs


def _jobs(request: Request, site: GeneratedWeb, pages: int, runs: Sequence[str]) -> list[Job]:
    ground = open_testbed(request, site)
    jobs = []
    for target in chosen(request, ground, TARGETS):
        listed = drawn(ground, target, request.seed)
        size = min(SET, len(listed) // 3)  # most of the listed pages are left to be found
        if not size:
            raise BadInput(f"--target: {len(listed)} pages of {target!r} are too few to sample two sets of seeds from")
        for place, run in enumerate(runs):
            seeds = listed[place * size : (place + 1) * size]
            jobs.append(Job(request, site, target, tuple(seeds), pages, run))
    return jobs


def ringed(seed: int, own: float, following: float) -> GeneratedWeb:
    """Classes in random families of four, in each of which every class links to the next one."""
    order = Random(f"families {seed}").sample(range(TOPICS), TOPICS)
    rows = [[(1 - own - following - BESIDE) / TOPICS] * TOPICS for _ in range(TOPICS)]
    for first in range(0, TOPICS, FAMILY):
        family = order[first : first + FAMILY]
        for place, topic in enumerate(family):
            for step, share in enumerate((own, following, BESIDE / 2, BESIDE / 2)):
                rows[topic][family[(place + step) % FAMILY]] += share
    return site(seed, Links(count=(10, 20), matrix=tuple(map(tuple, rows))))


def name_of(own: float, following: float) -> str:
    return f"{own:.0%} own, {following:.0%} next"


@lru_cache(maxsize=8)  # one for each web of the experiment: they are used again with 50 seeds
def lessons(request: Request, site: GeneratedWeb) -> tuple[Classifier, RuleBase]:
    """Train on example pages, then classify the pages they link to and count which classes link to which."""
    ground = open_testbed(request, site)
    judge = Taxonomy(examples="", target=[])
    taught = [(url, label, page) for label in ground.classes for url, page in ground.examples(label, EXAMPLES)]
    teach(judge, taught)
    found: list[tuple[str, str, str]] = []
    for label in ground.classes:
        pages = [page for _, of, page in taught if of == label]
        most = 1 + LINKED // max(1, len(pages))
        behind = {url: linked for page in pages for url, linked in ground.beyond(page, most)}
        for url, linked in behind.items():
            verdict = asyncio.run(judge.judge(linked))
            found += [(label, url, verdict.label)] if verdict.label else []
    return judge.classifier_, count(judge.classifier_.labels, found)


def work(job: Job) -> Outcome:
    """One comparison."""
    classifier, base = lessons(job.request, job.site)
    ruled = Rules()
    ruled.use(base, [job.target])
    crawls = {BASE: _crawl(job, classifier, SoftFocus()), RULED: _crawl(job, classifier, ruled)}
    page = open_testbed(job.request, job.site).web.page
    relevances = {
        name: {page(fetch.final_url): fetch.relevance for fetch in crawl.pages} for name, crawl in crawls.items()
    }
    truth = open_testbed(job.request, job.site).truth
    rows = {}
    for name, other in ((BASE, RULED), (RULED, BASE)):
        values = [fetch.relevance for fetch in crawls[name].pages]
        on_target = [truth(page(fetch.final_url)) == job.target for fetch in crawls[name].pages]
        rows[name] = {
            "pages": len(values),
            "harvest_ratio": harvest_ratio(values),
            "exclusive_harvest_ratio": exclusive_harvest(relevances[name], relevances[other]),
            "true_harvest_rate": sum(on_target) / max(1, len(on_target)),
            "curve": sampled(running_mean(values), job.pages),
            **crawls[name].hours,
        }
    shared = overlap(relevances[BASE], relevances[RULED])
    return {"target": job.target, "run": job.run, "web": job.site.seed, "overlap": shared, **rows}


def _crawl(job: Job, classifier: Classifier, strategy: Strategy) -> LabCrawl:
    judge = Taxonomy(examples="", target=[job.target])
    judge.use(classifier)
    web = open_testbed(job.request, job.site).web
    return crawl_web(web, job.seeds, judge, strategy, job.pages, **manner(job.request.field))


def conclude(request: Request, found: Sequence[Outcome]) -> Report:
    """The results of the comparisons, next to the published ones."""
    pages = request.pages or PAGES
    main = [row for row in found if row["run"].startswith("set")]
    others = [row for row in found if "own" in row["run"]]
    many = [row for row in found if row["run"] == "50 seeds"]
    return Report(
        name="rules",
        title="Rules between classes: does a crawl that tunnels find more?",
        source="Altingovde, Ulusoy: Exploiting Interclass Rules for Focused Crawling. IEEE Intelligent Systems, 2004",
        claims=_CLAIMS,
        protocol=_PROTOCOL,
        ours=_ours(request, main, pages),
        effects=effects(main, many),
        tables=[published(), ours(main), *([about_links(main, others)] if others else [])],
        pictures=[_picture(main, many, pages)],
        caveats=_CAVEATS[1:] if request.web else _CAVEATS,
        data={"pages": pages, "comparisons": list(found), "published": [list(row) for row in PUBLISHED]},
    )


def effects(main: Sequence[Outcome], many: Sequence[Outcome]) -> list[Effect]:
    """The four claims."""
    overlaps = [row["overlap"] for row in main]
    found = [
        better("Rules raise the harvest ratio, by 3 to 38 %.", _pair(main, "harvest_ratio")),
        is_true(
            "The two crawlers fetch different pages: 8 to 27 % in common.",
            "less than half of the pages in common, on average",
            f"{min(overlaps):.0%} to {max(overlaps):.0%}, mean {mean(overlaps):.0%}",
            mean(overlaps) < 0.5,
        ),
        better(
            "The pages that only the rules found are better than those only the baseline found.",
            _pair(main, "exclusive_harvest_ratio"),
        ),
    ]
    if not many:
        return [*found, cannot("With 50 seeds it is the same.", "no class lists 50 pages to start from")]
    small = [row for row in main if row["run"] == "set 1" and any(_same(row, run) for run in many)]
    pairs = [
        Pair(
            f"{name} from {MANY}",
            f"from {SET}",
            _of(many, name, _RATIO),
            _of(small, name, _RATIO),
            what="harvest ratio",
        )
        for name in (BASE, RULED)
    ]
    fifth = len(many[0][BASE]["curve"]) // 5 - 1
    at = [_at(many, fifth, "after a fifth"), _at(many, -1, "at the end")]
    ahead = better(f"With {MANY} seeds the rules are ahead after the first few hundred pages.", *at)
    return [*found, alike(f"With {MANY} seeds the harvest ratios are about those with {SET}.", 0.1, *pairs), ahead]


def _same(row: Outcome, other: Outcome) -> bool:
    return bool(row["target"] == other["target"] and row["web"] == other["web"])


def _at(rows: Sequence[Outcome], place: int, when: str) -> Pair:
    ones, others = ([row[name]["curve"][place] for row in rows] for name in (RULED, BASE))
    return Pair(f"{RULED} {when}", f"{BASE} {when}", ones, others, what="harvest ratio")


def _of(rows: Sequence[Outcome], name: str, key: str) -> list[float]:
    return [row[name][key] for row in rows]


def _pair(rows: Sequence[Outcome], key: str) -> Pair:
    what = key.replace("exclusive_harvest_ratio", "harvest ratio of pages that the other crawl did not fetch")
    return Pair(RULED, BASE, _of(rows, RULED, key), _of(rows, BASE, key), what=what.replace("_", " "))


_RATIO = "harvest_ratio"


def published() -> Table:
    rows = [
        [topic, str(number), *_figures(base, ruled, shared, alone, ruled_alone)]
        for topic, number, base, ruled, shared, alone, ruled_alone in PUBLISHED
    ]
    return Table("Published", _COLUMNS, rows)


def ours(main: Sequence[Outcome]) -> Table:
    rows = [
        [
            row["target"],
            f"{row['run'].removeprefix('set ')}" + (f", web {row['web']}" if len({r["web"] for r in main}) > 1 else ""),
            *_figures(
                row[BASE]["harvest_ratio"],
                row[RULED]["harvest_ratio"],
                row["overlap"],
                row[BASE]["exclusive_harvest_ratio"],
                row[RULED]["exclusive_harvest_ratio"],
            ),
        ]
        for row in main
    ]
    note = "Harvest ratio: the mean relevance of all fetched pages according to the classifier."
    return Table("Ours", _COLUMNS, rows, note)


def about_links(main: Sequence[Outcome], others: Sequence[Outcome]) -> Table:
    """What the rules gain on webs whose classes link differently."""
    groups = {name_of(*SHARES[0]): main} | {
        name: [row for row in others if row["run"] == name] for name in dict.fromkeys(row["run"] for row in others)
    }
    cells = []
    for name, rows in groups.items():
        pair = _pair(rows, "harvest_ratio")
        tested = pair.test()
        figures = f"{mean(pair.others):.3f}", f"{mean(pair.ones):.3f}", f"{tested.difference:+.3f} ± {tested.error:.3f}"
        cells.append([name, str(len(rows)), *figures])
    return Table(
        "The same on webs whose classes link differently",
        ["links to", "comparisons", "soft focus", "rules", "difference"],
        cells,
        """Not in the paper. Rules can only gain if some other class links to the target more often than the target's
        own pages do: the first line is such a web, the last one the opposite.""",
    )


_COLUMNS = ["target", "seed set", "baseline", "rules", "more", "overlap", "exclusive: baseline", "rules", "more"]


def _figures(base: float, ruled: float, shared: float, alone: float, ruled_alone: float) -> list[str]:
    first = [f"{base:.2f}", f"{ruled:.2f}", _more(base, ruled), f"{shared:.0%}"]
    return [*first, f"{alone:.2f}", f"{ruled_alone:.2f}", _more(alone, ruled_alone)]


def _more(base: float, ruled: float) -> str:
    return f"{ruled / base - 1:+.0%}" if base else "-"


def _picture(main: Sequence[Outcome], many: Sequence[Outcome], pages: int) -> Picture:
    x = marks(pages)
    panels = [
        Panel(
            f"mean of {len(main)} comparisons, ± standard error",
            "pages fetched",
            "harvest ratio",
            [Line(name, x, *averaged([row[name]["curve"] for row in main])) for name in (BASE, RULED)],
        )
    ]
    if many:
        lines = [Line(name, x, *averaged([row[name]["curve"] for row in many])) for name in (BASE, RULED)]
        panels.append(Panel(f"from {MANY} seeds, mean of {len(many)}", "pages fetched", "harvest ratio", lines))
    return Picture("harvest", "Soft focus and rules between classes", panels, "Harvest ratio during the crawl.")


def _ours(request: Request, main: Sequence[Outcome], pages: int) -> str:
    targets = ", ".join(dict.fromkeys(row["target"] for row in main))
    measured = f"""{len(main)} comparisons of {pages:,} pages each, for the targets {targets}. Both crawlers use the
        same classifier (naive Bayes over all classes), the same seeds and the same web; if a URL is found again, both
        keep its first score. Rules have at most two steps, and the paths of a class are summed."""
    if request.web:
        return f"On the recorded web `{request.web}`: {measured}"
    own, following = SHARES[0]
    return f"""On generated webs of 60,000 pages and {TOPICS} classes: {measured} The classes are in random
        families of four, like a department, its courses, the people and their papers: of the links on a page
        {own:.0%} stay in its class, {following:.0%} go to the next class of the family, {BESIDE:.0%} to the other
        two, the rest anywhere. So every class is linked from one other class more often than from itself, which is
        the paper's premise. Classifier and rules are learned on another web of the same kind with another random
        seed, from {EXAMPLES} pages of each class and about {LINKED} pages that they link to."""


_CLAIMS = """
A focused crawler that gives every link the relevance of the page it was found on (soft focus) cannot cross pages that
are off topic themselves but lead to relevant ones. The paper counts, on example pages, how often pages of one class
link to pages of another, chains these shares as rules, and gives a link the probability that the class of its page
leads to the target. It claims a higher harvest ratio, largely different pages, and that the pages found only by the
rules are better too.
"""
_PROTOCOL = """
Three target topics of a web directory, two disjoint sets of ten seed pages for each, a few thousand pages per crawl;
the classifier's own probability of the target is the relevance of a page. One further run from 50 pages returned by a
search engine. No significance test.
"""
_CAVEATS = (
    """The generated web has the regularity that the rules look for by construction. In the first design, in which a
    class was linked from its own pages as often as from its best partner (25 % each), the rules lost; the web was
    then rebuilt to satisfy the paper's premise. The last table shows both kinds, and a web that contradicts the
    premise.""",
    "Relevance is that of the classifier, as in the paper; it judges both crawlers alike.",
    "The paper's figures come from the Web of 2004, with 1,282 classes: compare directions, not values.",
)
