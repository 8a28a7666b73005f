"""The findings of the ontology experiment, next to those of the thesis."""

from collections.abc import Sequence

from lycosa.lab.reproduce.effects import Direction, Effect, Pair, better, is_true
from lycosa.lab.reproduce.measures import averaged, marks, text_of
from lycosa.lab.reproduce.ontology import (
    BEST,
    FOCUSED,
    LIMITS,
    MINIMUM,
    PAGES,
    PER_HOST,
    PUBLISHED,
    SEEDS,
    STRAY,
    TOP,
    UNFOCUSED,
)
from lycosa.lab.reproduce.pictures import Line, Panel, Picture
from lycosa.lab.reproduce.process_pool import Outcome
from lycosa.lab.reproduce.report import Report, Table
from lycosa.lab.reproduce.testbed import Request, told
from lycosa.lab.significance import mean, standard_error


def conclude(request: Request, found: Sequence[Outcome]) -> Report:
    pages = request.pages or PAGES
    return Report(
        name="ontology",
        title="A map of the subject: does it keep a crawl on it, and does link analysis help?",
        source="An ontology-focused crawler built on Heritrix and Nutch's link analysis (thesis, 2004)",
        claims=_CLAIMS,
        protocol=_PROTOCOL,
        ours=_ours(request, found, pages),
        effects=effects(found),
        tables=[_table(found), _others(found)],
        pictures=[_picture(found, pages)],
        caveats=_CAVEATS[1:] if request.web else _CAVEATS,
        data={"pages": pages, "marks": marks(pages), "topics": list(found)},
    )


def effects(found: Sequence[Outcome]) -> list[Effect]:
    """All claims of the thesis: on focus and seeds, and the others."""
    low = LIMITS[0]
    falls = _swapped(_quarters(found, f"{UNFOCUSED} {low}"))
    stray = _quarters(found, f"{STRAY} {low}")
    return [
        better(
            "The focused crawl has the higher harvest rate, at both limits.", *_at_limits(found, FOCUSED, UNFOCUSED)
        ),
        _slight("The focused crawl's harvest rate rises slightly.", _quarters(found, f"{FOCUSED} {low}"), 1, 0.2),
        better("The unfocused crawl's harvest rate starts high and falls.", falls),
        better("Irrelevant seeds make the unfocused crawl worse.", *_at_limits(found, UNFOCUSED, STRAY)),
        _slight("From irrelevant seeds the harvest rate is constant or rises slightly.", stray, -1, 0.2),
        *_further(found, LIMITS[1]),
    ]


def _further(found: Sequence[Outcome], limit: float) -> list[Effect]:
    """Frequencies, link analysis, robustness."""
    names = "relevance of the same pages in the unfocused crawl", "in the focused one"
    analysis = pair(found, f"{FOCUSED} {limit}", f"without analysis {limit}")
    return [
        better(
            "Where each crawl counts its own frequencies, a page scores higher in the unfocused one (by 125 %).",
            _two(found, names, "own_frequencies", ("unfocused", "focused"), 4),
        ),
        better(
            "So with common frequencies the harvest rate of the unfocused crawl would be lower (by about half).",
            Pair(
                "with its own frequencies",
                "with common ones",
                *_rates(found, f"own unfocused {limit}", f"{UNFOCUSED} {limit}"),
                what=_RATE,
            ),
        ),
        _slight("Link analysis raises the harvest rate slightly.", analysis, 1, 0.1),
        better(
            "Crawls from disjoint seeds find the same pages (robustness .497).",
            _two(found, ("share of pages in common", "by chance"), "robustness", ("overlap", "by_chance")),
        ),
    ]


def pair(found: Sequence[Outcome], one: str, other: str) -> Pair:
    return Pair(one, other, *_rates(found, one, other), what=_RATE)


def _rates(found: Sequence[Outcome], one: str, other: str) -> tuple[list[float], list[float]]:
    ones, others = ([row["rates"][name]["harvest"] for row in found] for name in (one, other))
    return ones, others


_RATE = "harvest rate"


def _at_limits(found: Sequence[Outcome], one: str, other: str) -> list[Pair]:
    return [pair(found, f"{one} {limit}", f"{other} {limit}") for limit in LIMITS]


def _two(found: Sequence[Outcome], names: tuple[str, str], group: str, keys: tuple[str, str], digits: int = 3) -> Pair:
    ones, others = ([row[group][key] for row in found] for key in keys)
    return Pair(names[0], names[1], ones, others, digits)


def _quarters(found: Sequence[Outcome], run: str) -> Pair:
    """Compare the end of a crawl with its beginning."""
    ones, others = ([row["rates"][run][quarter] for row in found] for quarter in ("last_quarter", "first_quarter"))
    return Pair("last quarter", "first quarter", ones, others, what=_RATE)


def _swapped(both: Pair) -> Pair:
    return Pair(both.second, both.first, both.others, both.ones, both.digits, both.what)


def _slight(claim: str, both: Pair, errors: int, most: float) -> Effect:
    """The first is slightly larger; `errors` is the least difference in standard errors, below 0 if it may be equal."""
    gains = [one - other for one, other in zip(both.ones, both.others, strict=True)]
    error = standard_error(gains) if len(gains) > 1 else 0.0
    above = "its standard error" if errors > 0 else "minus its standard error"
    criterion = f"{both.first} less {both.second} is above {above} and below {most:g}"
    least = min(0.0, errors * error)
    way: Direction = "as claimed" if mean(gains) > least else "the opposite"
    return is_true(claim, criterion, f"{both.what}: {both.shown()}", errors * error < mean(gains) < most, way)


def _table(found: Sequence[Outcome]) -> Table:
    rows = []
    for run, published in PUBLISHED.items():
        for limit, said in zip(LIMITS, published, strict=True):
            rates = [row["rates"][f"{run} {limit}"] for row in found]
            cells = [
                text_of([rate[key] for rate in rates])
                for key in ("harvest", "first_quarter", "last_quarter", "true_harvest")
            ]
            rows.append([run, f"{limit}", said, *cells])
    columns = ["run", "limit", "published", "ours", "first quarter", "last quarter", "truly on topic"]
    note = f"According to the crawler's own judge, as in the thesis. Mean over {len(found)} topics ± standard error."
    return Table("Harvest rate", columns, rows, note)


def _others(found: Sequence[Outcome]) -> Table:
    high = LIMITS[1]

    def rate(run: str) -> str:
        return text_of([row["rates"][f"{run} {high}"]["harvest"] for row in found])

    own = [[row["own_frequencies"][name] for row in found] for name in ("unfocused", "focused")]
    higher = mean(own[0]) / (mean(own[1]) or 1) - 1
    rows = [
        ["harvest rate with link analysis", "slightly higher", rate(FOCUSED)],
        ["harvest rate without", "slightly lower", rate("without analysis")],
        ["unfocused, own frequencies", "≈ .15", rate("own unfocused")],
        ["unfocused, common frequencies", "should be half of it", rate(UNFOCUSED)],
        ["the same page in the unfocused crawl, own frequencies", "+125 %", f"{higher:+.0%}"],
        ["robustness", "10,322 of 20,761 = .497", text_of([row["robustness"]["overlap"] for row in found])],
        ["expected by chance, at most", "-", text_of([row["robustness"]["by_chance"] for row in found])],
        *(
            [
                f"clicks from the seeds to the {BEST} best pages, {run}",
                "-",
                text_of([row["distance"][run] for row in found], 2),
            ]
            for run in found[0]["distance"]
        ),
    ]
    note = f"""At the limit {high}. By chance: the overlap of two random samples of this size from all pages that any
        of the crawls found relevant; in truth there are more such pages, so the overlap would be smaller."""
    return Table("Link analysis, frequencies, robustness, distance", ["", "published", "ours"], rows, note)


def _picture(found: Sequence[Outcome], pages: int) -> Picture:
    panels = []
    for limit in LIMITS:
        names = [f"{run} {limit}" for run in PUBLISHED]
        names += [f"without analysis {limit}"] if limit == LIMITS[1] else []
        lines = [
            Line(
                name.rpartition(" ")[0].replace("without", "focused, without"),
                marks(pages),
                *averaged([row["rates"][name]["curve"] for row in found]),
            )
            for name in names
        ]
        panels.append(Panel(f"relevancy limit {limit}", "pages fetched", "harvest rate so far", lines))
    return Picture("harvest", "The ontology crawler", panels, f"Mean over {len(found)} topics, ± standard error.")


def _ours(request: Request, found: Sequence[Outcome], pages: int) -> str:
    if request.web:
        where = f"""On the recorded web `{request.web}` with the map `{request.topic_map}`, from {len(found)} random
            sets of seeds among the pages labelled {found[0]["target"]}"""
    else:
        where = f"""On {told()}, for {len(found)} topics ({", ".join(row["target"] for row in found)}); the map of a
            topic has its name as the focus, twelve of its words below, twelve beside it, and fifteen one step
            further"""
    return f"""{where}: {pages:,} pages per crawl, up to {SEEDS} seeds listed in a directory, or as many of other
        topics. How many pages name each concept is counted once, on other pages, and this table is shared by all
        crawls; two further crawls count for themselves, as in the thesis. Link analysis runs whenever fewer than
        {MINIMUM}
        chosen URLs are left, and chooses {TOP}, at most {PER_HOST} per host."""


_CLAIMS = """
The user describes the subject by a topic map and chooses the topics in focus. A page is relevant if it names topics
near the focus often enough (relevancy limit). A focused crawl follows only the links of relevant pages, and link
analysis chooses which URLs come next. The thesis claims a harvest rate far above that of an unfocused crawl, a small
gain by link analysis, and that crawls from different seeds have about half of their pages in common. It notes that
harvest rates of focused and unfocused crawls are not quite comparable, because each crawl counts for itself how
common the topics are.
"""
_PROTOCOL = """
IT security as the subject, 14 pages of a web directory as seeds, or irrelevant ones; crawls of 29,000 to 65,000
pages, one of each kind. Harvest rate: the share of pages that the crawler itself finds relevant. Robustness: the
first 20,761 relevant pages of two crawls from the two halves of 100 listed pages. No repetition, no test.
"""
_CAVEATS = (
    """The generated web has the same settings as in the TIDS and OTIE experiments; maps and limits were not tuned.
    The limits are those of the thesis, although they mean something else with other maps and pages.""",
    "Relevance is that of the crawler's own judge; the table also shows the share of pages truly on topic.",
    """A higher limit can only lower the harvest rate of an unfocused crawl, which fetches the same pages whatever the
    limit, so this is not a finding.""",
)
