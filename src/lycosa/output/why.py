"""Why a URL was fetched, or is still queued: the path from a seed, the scores, the verdict and its reasons."""

from collections.abc import Mapping

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from lycosa import urls
from lycosa.output.terminal import printable
from lycosa.output.waits import Waits, waits_for
from lycosa.store.db import CrawlDb
from lycosa.store.known import KnownUrl, host_of, path_to
from lycosa.store.labels import LABELS
from lycosa.store.visited import LastVisit, last_visits
from lycosa.types import BadInput, Band, Explanation, Link, Origin, Scored, Verdict

_STARTS = (Origin.SEED, Origin.SEARCH)
_NAMED = {
    Origin.SEED: "it is a seed",
    Origin.ROBOTS: "robots.txt names it as a sitemap",
    Origin.SEARCH: "a search found it",
}


class Step(Struct, frozen=True):
    """One URL on the path: how it was found and judged."""

    id: int
    url: str
    source: int  # the id of the page that gave it its score
    anchor: str
    score: float
    depth: int
    band: int
    origin: int
    is_done: bool
    n: int = 0  # 0: not visited
    status: int = 0
    error: str = ""
    detail: str = ""
    final_url: str = ""
    title: str = ""
    relevance: float | None = None
    on_topic: bool = False
    label: str = ""
    why: dict[str, float] = {}
    duplicate_of: str = ""
    fate: str = ""  # of a URL that was not visited

    @property
    def comes_first(self) -> bool:
        """Whatever its score: somebody named it."""
        return self.band == Band.FIRST


def read_path(db: CrawlDb, text: str) -> list[Step]:
    """The path from the seed to the URL; BadInput if the crawl does not know it."""
    url = urls.from_person(text)
    path = path_to(db, url)
    if not path:
        raise BadInput(f"{text}: this crawl does not know this URL")
    visits = last_visits(db, [known.url for known in path])
    return [_step(db, known, visits.get(known.url)) for known in path[::-1]]


def _step(db: CrawlDb, known: KnownUrl, visit: LastVisit | None) -> Step:
    if visit:
        return Step(**known._asdict() | visit._asdict() | {"score": visit.score or 0.0})  # it is that of the visit
    closed = host_of(db, urls.host(known.url)).closed
    fate = f"its host is closed: {closed}" if closed else "it is queued"
    return Step(*known, fate="reached by the redirect above" if known.is_done else fate)


def scored(path: list[Step]) -> Scored:
    """What a strategy needs to explain the score of the URL at the end of the path."""
    step = path[-1]
    pages = [page for page in path[:-1] if page.relevance is not None]
    page = pages[-1] if pages and step.source else None  # there may be a redirect between them
    source = path[-2].url if step.source and len(path) > 1 else ""
    link = Link(step.url, source, step.anchor, step.depth, origin=Origin(step.origin))
    verdict = _verdict(page) if page else None
    return Scored(link, step.score, bool(step.n), verdict, bool(page and page.origin in _STARTS), step.id)


def _verdict(page: Step) -> Verdict:
    relevance, added = page.relevance or 0.0, page.why.get(LABELS)
    return Verdict(relevance, page.on_topic, page.label, uncorrected=None if added is None else relevance - added)


def draw_why(path: list[Step], console: Console, explanation: Explanation | None, waits: Waits | None = None) -> None:
    """One sentence, the path, what it is waiting for, and the reasons for score and verdict."""
    console.print(Text(printable(sentence(path[-1], explanation))), soft_wrap=True)
    if waits:
        for line in waits_for(waits):
            console.print(Text(printable(line)), soft_wrap=True)
    console.print()
    draw_path(path, console)
    if explanation and explanation.parts:
        total = f"{sum(explanation.parts.values()):.3f}"
        _draw_reasons(
            f"contributions to the score ({explanation.total} {total}, the sum of these)", explanation.parts, console
        )
    _draw_reasons("reasons for the verdict", path[-1].why, console)


def sentence(step: Step, explanation: Explanation | None) -> str:
    """The answer in one sentence."""
    if step.is_done and not step.n:
        return "Not fetched separately: a redirect led to it."
    if step.comes_first:
        named = _NAMED.get(Origin(step.origin), "it was put first")
        return f"Fetched because {named}." if step.n else f"Not fetched yet, though {named} and comes first."
    if step.band == Band.LAST and not step.n:
        return "Not fetched yet: it was put last."
    because = f"because {explanation.because}" if explanation else "(the strategy does not explain its scores)"
    if step.n:
        return f"{'Tried' if step.error else 'Fetched'} {because}."
    return f"Not fetched yet. Its score is {step.score:.4f} {because}."


def draw_path(path: list[Step], console: Console) -> None:
    for number, step in enumerate(path):
        console.print(Text(f"{'  ' * number}{'└ ' if number else ''}{step.url}", style="bold"), soft_wrap=True)
        for line in _lines(step):
            console.print(Text(printable(f"{'  ' * (number + 1)}{line}")), soft_wrap=True)


def _draw_reasons(heading: str, reasons: Mapping[str, float], console: Console) -> None:
    if reasons:
        console.print(f"\n{heading}:")
        for term, weight in reasons.items():
            console.print(Text(printable(f"  {weight:+9.3f}  {term}")), soft_wrap=True)


def _origin(step: Step) -> str:
    """How the crawl found the URL."""
    score = f"score {step.score:.4f}"
    match step.origin:
        case Origin.SEED:
            return "a seed"
        case Origin.ROBOTS:
            return "a sitemap, named by robots.txt"
        case Origin.SEARCH:
            return f"found by the search “{step.anchor[:80]}”" + ("" if step.comes_first else f", {score}")
        case Origin.SITEMAP:
            return f"{score}, listed in the sitemap"
    return score + (f", by the link “{step.anchor[:80]}”" if step.anchor else "")


def _lines(step: Step) -> list[str]:
    lines = [_origin(step)]
    if not step.n:
        return [*lines, f"not visited: {step.fate}"]
    if step.error:
        detail = f" ({step.detail[:100]})" if step.detail else ""
        return [*lines, f"visit {step.n}: {step.error}{detail}"]
    if step.final_url and step.final_url != step.url:
        lines.append(f"redirected to {step.final_url}")
    if step.duplicate_of:
        return [*lines, f"visit {step.n}: the same body as {step.duplicate_of}, not judged again"]
    if step.relevance is None:
        return [*lines, f"visit {step.n}: a sitemap, not judged"]
    on_topic = "on topic" if step.on_topic else "off topic"
    label = f", class {step.label}" if step.label else ""
    return [*lines, f"visit {step.n}: relevance {step.relevance:.4f}, {on_topic}{label} “{step.title[:80]}”"]
