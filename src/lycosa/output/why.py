"""Why a URL was fetched, or is still queued: the path from a seed, the scores, the verdict and its reasons."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from lycosa import urls
from lycosa.db import DONE, CrawlDb
from lycosa.output.terminal import printable
from lycosa.output.waits import Waits, waits_for
from lycosa.types import SEED_SCORE, BadInput, Explanation, Link, Scored, Verdict

_KNOWN = "SELECT id, url, source, anchor, score, depth, state FROM urls WHERE"
_VISITED = (
    "SELECT url, score, n, status, error, detail, final_url, title, relevance, on_topic, label, why, duplicate_of"
    " FROM visits WHERE url IN ({}) ORDER BY n"
)


class Step(Struct, frozen=True):
    """One URL on the path: how it was found and judged."""

    id: int
    url: str
    source: int  # the id of the page that gave it its score
    anchor: str
    score: float
    depth: int
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
    def is_seed(self) -> bool:
        """Not found on a page: given by a person, or by a search or sitemap if it has its own score."""
        return not self.source and not self.depth


def read_path(db: CrawlDb, text: str) -> list[Step]:
    """The path from the seed to the URL; BadInput if the crawl does not know it."""
    url = urls.from_person(text)
    row = db.execute(f"{_KNOWN} url = ?", (url,)).fetchone() if url else None
    if row is None:
        raise BadInput(f"{text}: this crawl does not know this URL")
    rows = [row]
    while (source := rows[-1][2]) and source not in {found[0] for found in rows}:
        row = db.execute(f"{_KNOWN} id = ?", (source,)).fetchone()
        if row is None:
            break
        rows.append(row)
    steps = [_step(*row) for row in rows]
    visits = _visits(db, [step.url for step in steps])
    return [_visited(db, step, visits.get(step.url)) for step in steps[::-1]]


def _step(number: int, url: str, source: int, anchor: str, score: float, depth: int, state: int) -> Step:
    return Step(number, url, source, anchor, score, depth, state == DONE)


def _visits(db: CrawlDb, path: list[str]) -> dict[str, tuple[Any, ...]]:
    """The last visit of each URL, in one query, because the table has no index on URLs."""
    rows = db.execute(_VISITED.format(", ".join("?" * len(path))), path).fetchall()
    return {row[0]: row[1:] for row in rows}


def _visited(db: CrawlDb, step: Step, visit: tuple[Any, ...] | None) -> Step:
    if visit is None:
        closed = db.execute("SELECT closed FROM hosts WHERE name = ?", (urls.host(step.url),)).fetchone()
        fate = f"its host is closed: {closed[0]}" if closed and closed[0] else "it is queued"
        return replace(step, fate="reached by the redirect above" if step.is_done else fate)
    names = ("score", "n", "status", "error", "detail", "final_url", "title", "relevance", "on_topic", "label", "why")
    values = dict(zip((*names, "duplicate_of"), visit, strict=True))
    values["on_topic"] = bool(values["on_topic"])
    values["why"] = msgspec.json.decode(values["why"] or "{}", type=dict[str, float])
    return replace(step, **values)


def scored(path: list[Step]) -> Scored:
    """What a strategy needs to explain the score of the URL at the end of the path."""
    step = path[-1]
    pages = [page for page in path[:-1] if page.relevance is not None]
    page = pages[-1] if pages and step.source else None  # there may be a redirect between them
    link = Link(step.url, path[-2].url if step.source and len(path) > 1 else "", step.anchor, step.depth)
    verdict = Verdict(page.relevance or 0.0, page.on_topic, page.label) if page else None
    return Scored(link, step.score, bool(step.n), verdict, bool(page and page.is_seed), step.id)


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
    if step.is_seed and step.score >= SEED_SCORE:
        named = "a search found it" if step.anchor else "it is a seed"
        return f"Fetched because {named}." if step.n else f"Not fetched yet, though {named} and comes first."
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
    """How the crawl found the URL: only a link has a source page, only a search result has an anchor without one."""
    score = f"score {step.score:.4f}"
    if step.source or step.depth:
        return score + (f", by the link “{step.anchor[:80]}”" if step.anchor else "")
    if step.anchor:
        return f"found by the search “{step.anchor[:80]}”" + (f", {score}" if step.score < SEED_SCORE else "")
    is_sitemap = step.n and not step.error and not step.duplicate_of and step.relevance is None
    return "named by robots.txt" if is_sitemap and step.score < SEED_SCORE else "a seed"


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
