"""Publication Spider (2007): does querying a search engine help a crawler that ranks pages by their URL?"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lycosa import config, urls
from lycosa.lab.answer import Pages
from lycosa.lab.metrics import effectiveness, improvement
from lycosa.lab.one import LAB, LabCrawl, crawl_web, manner
from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels, start_urls
from lycosa.lab.reproduce.effects import Effect, Pair, better, is_true
from lycosa.lab.reproduce.measures import averaged, text_of
from lycosa.lab.reproduce.pictures import Line, Panel, Picture
from lycosa.lab.reproduce.process_pool import Outcome
from lycosa.lab.reproduce.report import Report, Table
from lycosa.lab.reproduce.searching import NoJudge, crawl_and_search
from lycosa.lab.reproduce.testbed import Reader, Request
from lycosa.lab.reproduce.university import DOMAIN, ROOT, University
from lycosa.lab.significance import mean
from lycosa.pages import read_pages
from lycosa.seeds.engines import LocalEngine
from lycosa.strategy.publications import Publications
from lycosa.types import BadInput, Page

PAGES = 1_400
STEP = 100
SITES = 5
SHARES = (0.27, 0.5, 1.0)  # of people that some list links to; the first is derived from the paper's baseline
FURTHER = 3  # sites with the other shares
BASE, IMPROVED = "baseline", "with search"
TARGET = "publication"

PUBLISHED = {  # pages fetched: publication pages found by both
    100: (0, 20),
    200: (11, 40),
    300: (18, 53),
    400: (38, 71),
    500: (45, 80),
    600: (45, 87),
    700: (45, 90),
    800: (45, 96),
    900: (45, 99),
    1000: (45, 106),
    1100: (45, 112),
    1200: (45, 114),
    1300: (45, 115),
    1400: (45, 117),
}
PUBLISHED_TOTAL = 169


class Job(Struct, frozen=True):
    """Both crawlers on one site."""

    request: Request
    university: University
    pages: int


class Ground(Struct, frozen=True):
    """A site, its targets, and what a search engine has indexed."""

    web: Pages
    seeds: Sequence[str]
    domain: str
    targets: frozenset[str]
    engine: LocalEngine


def plan(request: Request) -> list[Job]:
    """Some universities, then a few on which more people are linked; or the recorded site."""
    pages = request.pages or PAGES
    if request.web:
        return [Job(request, University(), pages)]
    first, *others = SHARES
    jobs = [Job(request, University(request.seed + number, first), pages) for number in range(SITES)]
    return jobs + [
        Job(request, University(request.seed + number, share), pages) for share in others for number in range(FURTHER)
    ]


def ground(job: Job) -> Ground:
    """The generated site, or the recorded one."""
    if job.request.web:
        return _recorded(job.request)
    site = job.university
    reader = Reader(site)

    def every(_: Path) -> list[tuple[str, Page]]:
        return [(url, page) for url in site.pages() if (page := reader(url))]

    return Ground(site, [f"{ROOT}/"], DOMAIN, frozenset(site.publications()), LocalEngine(Path(), every))


def _recorded(request: Request) -> Ground:
    """The targets; without labels, the URL determines what is a publication page."""
    web = RecordedWeb(Path(request.web)).open()
    if not web.pages():
        raise BadInput(f"{request.web}: contains no pages")
    seeds = start_urls(request.seeds or web.pages()[:1])[:1]
    domain = urls.hostname(seeds[0]).removeprefix("www.")
    wanted = set(request.target or (TARGET,))
    if request.labels:
        labels = page_labels(web, read_labels(Path(request.labels)))
        targets = {page for page, label in labels.items() if label in wanted}
    else:
        is_target = strategy().is_target
        targets = {page for page in web.pages() if is_target(page)}
    inside = {page for page in targets if f".{urls.hostname(page)}".endswith(f".{domain}")}
    if not inside:
        raise BadInput(f"--web: there is no page of {', '.join(sorted(wanted))} below {domain} in {request.web}")
    return Ground(web, seeds, domain, frozenset(inside), LocalEngine(Path(request.web), read_pages))


def strategy() -> Publications:
    """The URL classifier, trained on the built-in invented URLs."""
    made = Publications()
    made.prepare(Path(), None)
    return made


def work(job: Job) -> Outcome:
    """Both crawlers from the root of the site."""
    place = ground(job)
    settings = replace(LAB, scope=config.Scope(domains=[place.domain]))
    how = manner(job.request.field, settings)
    baseline = crawl_web(place.web, place.seeds, NoJudge(), strategy(), job.pages, **how)
    improved = crawl_and_search(place.web, place.seeds, strategy(), engine=place.engine, pages=job.pages, **how)
    asked = {"steps": improved.steps, "hits": improved.hits, "queries": improved.queries}
    return {
        "site": job.university.seed,
        "linked": job.university.linked,
        "targets": len(place.targets),
        BASE: _found(place, baseline, job.pages),
        IMPROVED: _found(place, improved, job.pages),
        "search": asked,
    }


def _found(place: Ground, crawl: LabCrawl, pages: int) -> Outcome:
    """The number of targets after each hundred pages; a crawl that ended early keeps its last value."""
    seen: set[str] = set()
    counts = []
    for fetch in crawl.pages:
        name = place.web.page(fetch.final_url)
        if name in place.targets:
            seen.add(name)
        counts.append(len(seen))
    first = next((number for number, count in enumerate(counts, 1) if count), 0)
    at = [counts[min(number, len(counts)) - 1] if counts else 0 for number in points(pages)]
    return {"pages": len(counts), "found": at, "first": first, **crawl.hours}


def points(pages: int) -> list[int]:
    """Every hundred pages, and the end."""
    return [*range(STEP, pages, STEP), pages]


def conclude(request: Request, found: Sequence[Outcome]) -> Report:
    pages = request.pages or PAGES
    main = [row for row in found if row["linked"] == SHARES[0]]
    return Report(
        name="publications",
        title="Querying a search engine: does it help a crawler that looks for publication pages?",
        source="Publication Spider: a focused crawler with search-engine queries (report, 2007)",
        claims=_CLAIMS,
        protocol=_PROTOCOL,
        ours=_ours(request, main, pages),
        effects=effects(main, pages),
        tables=[_table(main, pages), _end(main, pages), *([_linked(found)] if len(found) > len(main) else [])],
        pictures=[_picture(main, pages)],
        caveats=_CAVEATS if not request.web else _CAVEATS[2:],
        data={
            "pages": pages,
            "marks": points(pages),
            "sites": list(found),
            "published": {str(mark): both for mark, both in PUBLISHED.items()},
        },
    )


def effects(main: Sequence[Outcome], pages: int) -> list[Effect]:
    """More at the end, no slow start, no drying up."""
    half = len(points(pages)) // 2 - 1
    ones, others = ([float(row[name]["found"][-1] - row[name]["found"][half]) for row in main] for name in _MORE)
    second = Pair(f"{IMPROVED}, second half", f"{BASE}, second half", ones, others, 1, _FOUND)
    return [
        _more("In the end the search has found 2.6 times the publication pages.", pair(main, -1)),
        _more("The search avoids the slow start: more pages are found after the first hundred.", pair(main, 0)),
        _more("The baseline dries up while the search goes on finding pages at an almost constant speed.", second),
        _more(
            "F1 of the search is about three times the baseline's (.149 and .057).",
            Pair(IMPROVED, BASE, _f1(main, IMPROVED, pages), _f1(main, BASE, pages), what="F1"),
        ),
    ]


_MORE = (IMPROVED, BASE)
_FOUND = "publication pages found"


def _more(claim: str, both: Pair) -> Effect:
    """With one site, as in the paper, no test is possible: then only the direction counts."""
    if len(both.ones) > 1:
        return better(claim, both)
    criterion = f"{both.first} > {both.second}; on one site there is no test"
    return is_true(claim, criterion, f"{both.what}: {both.shown()}", both.ones[0] > both.others[0])


def pair(rows: Sequence[Outcome], at: int) -> Pair:
    ones, others = ([float(row[name]["found"][at]) for row in rows] for name in _MORE)
    return Pair(IMPROVED, BASE, ones, others, 1, _FOUND)


def _f1(rows: Sequence[Outcome], name: str, pages: int) -> list[float]:
    return [effectiveness(row[name]["found"][-1], pages, row["targets"]).f1 for row in rows]


def _table(main: Sequence[Outcome], pages: int) -> Table:
    """Found, precision and recall at every hundred pages, published and ours."""
    total = mean([float(row["targets"]) for row in main])
    rows = []
    for place, mark in enumerate(points(pages)):
        base, improved = (mean([float(row[name]["found"][place]) for row in main]) for name in _BOTH)
        known = PUBLISHED.get(mark)
        cells = [
            _cells(known[0], known[1], mark, PUBLISHED_TOTAL) if known else ["-"] * 4,
            _cells(base, improved, mark, total),
        ]
        rows.append([str(mark), *cells[0], *cells[1]])
    columns = ["pages", *(f"{who}: {what}" for who in ("published", "ours") for what in _SHOWN)]
    note = f"Two numbers per cell: baseline / with search. Ours is the mean over {len(main)} sites."
    return Table("Publication pages found", columns, rows, note)


_SHOWN = ("found", "precision %", "recall %", "times")


def _cells(base: float, improved: float, crawled: int, total: float) -> list[str]:
    one, other = (effectiveness(round(count), crawled, total) for count in (base, improved))
    times = improvement(improved, base)
    return [
        f"{base:.0f} / {improved:.0f}",
        f"{100 * one.precision:.1f} / {100 * other.precision:.1f}",
        f"{100 * one.recall:.1f} / {100 * other.recall:.1f}",
        f"{times:.1f}" if times < 1e6 else "∞",
    ]


def _end(main: Sequence[Outcome], pages: int) -> Table:
    def shares(name: str) -> list[str]:
        found = [effectiveness(row[name]["found"][-1], pages, row["targets"]) for row in main]
        return [text_of([getattr(one, key) for one in found]) for key in ("precision", "recall", "f1")]

    rows = [
        [
            "publication pages found",
            "45",
            "117",
            *(text_of([float(r[n]["found"][-1]) for r in main], 1) for n in _BOTH),
        ],
        *(
            [key, base, improved, ours_base, ours_improved]
            for key, base, improved, ours_base, ours_improved in zip(
                ("precision", "recall", "F1"),
                ("0.032", "0.266", "0.057"),
                ("0.084", "0.692", "0.149"),
                shares(BASE),
                shares(IMPROVED),
                strict=True,
            )
        ),
        [
            "first one found at page",
            "129",
            "before 100",
            *(text_of([float(r[n]["first"]) for r in main], 0) for n in _BOTH),
        ],
        ["queries", "-", "-", "-", text_of([float(row["search"]["queries"]) for row in main], 0)],
    ]
    columns = ["", "published: baseline", "with search", "ours: baseline", "with search"]
    return Table(f"After {pages:,} pages", columns, rows, "Ours: mean over the sites ± standard error.")


_BOTH = (BASE, IMPROVED)


def _linked(found: Sequence[Outcome]) -> Table:
    """What the search adds, by how much of the site can be reached by links."""
    rows = []
    for share in SHARES:
        group = [row for row in found if row["linked"] == share]
        recalls = [[row[name]["found"][-1] / row["targets"] for row in group] for name in _BOTH]
        rows.append([f"{share:.0%}", str(len(group)), *(text_of(values) for values in recalls)])
    note = """Not in the paper. If lists link to everyone, the search adds nothing in the end: its gain is the part
        of the site that no link leads to."""
    columns = ["people linked", "sites", "recall: baseline", "with search"]
    return Table("By the share of people that some list links to", columns, rows, note)


def _picture(main: Sequence[Outcome], pages: int) -> Picture:
    x = points(pages)
    ours = [Line(name, x, *averaged([[float(n) for n in row[name]["found"]] for row in main])) for name in _BOTH]
    known = list(PUBLISHED)
    theirs = [Line(name, known, [float(PUBLISHED[n][place]) for n in known]) for place, name in enumerate(_BOTH)]
    panels = [
        Panel("published", "pages fetched", "publication pages found", theirs),
        Panel(f"ours, mean of {len(main)} sites ± standard error", "pages fetched", "publication pages found", ours),
    ]
    return Picture("found", "Publication pages found", panels)


def _ours(request: Request, main: Sequence[Outcome], pages: int) -> str:
    how = f"""Both crawlers start at the root, stay in the domain and fetch {pages:,} pages; both rank URLs by class,
        using a classifier trained on invented URLs. The search engine is a full-text index of the whole site;
        queries are pieces of the titles in list items, at most ten per page with ten results each, sent after ten
        consecutive decreases of the share of targets among queued URLs."""
    if request.web:
        truth = f"the labels of `{request.labels}`" if request.labels else "the class of the URL (there are no labels)"
        return f"On the recorded web `{request.web}`. {how} Publication pages are determined by {truth}."
    return f"""On {len(main)} generated university sites with the numbers given in the paper: 100 members of staff, 114
        full-time and 83 part-time graduates, about 169 publication pages, and some 3,000 other pages. {how} Lists
        of people link to {SHARES[0]:.0%} of the homepages, the share of publication pages that the paper's baseline
        found. That figure of the baseline is thus an input, not a result; what the search adds is measured."""


_CLAIMS = """
A crawler looks for the publication pages of a school. It guesses from the URL alone whether a page is a publication
page (best), a homepage, a list of staff, a department, or anything else (worst), and fetches in that order. Such a
crawler starts slowly, because targets are some links away from the root, and it dries up, because no link leads to
many of them. The paper lets it query a search engine whenever the share of targets among queued URLs keeps falling,
with pieces of the titles that a publication page lists. It claims 2.6 times as many publication pages, from beginning
to end.
"""
_PROTOCOL = """
One site, comp.nus.edu.sg, from its root, 1,400 pages for each crawler. Pages found were checked by hand; the total was
estimated as 169 from the number of staff and graduates and samples of their homepages. No repetition, no test.
"""
_CAVEATS = (
    """The share of homepages that no link leads to determines how much the search can gain. It was derived from the
    paper's baseline, not from our results; the last table shows other values.""",
    """Our site is tidier than a real one: departments, lists and homepages have descriptive names, so the baseline
    finds its way at once and the slow start is short.""",
    "The paper's engine knew the Web of 2006; ours knows every page of the site, and nothing else.",
)
