"""Why a URL was asked, or still waits: the path of links from a seed, each score, the verdict and its reasons."""

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
from lycosa.types import SEED_SCORE, BadInput

_VISIT = (
    "SELECT url, source, anchor, score, depth, n, status, error, detail, final_url, title, relevance, on_topic, label,"
    " why, duplicate_of FROM visits WHERE url = ? ORDER BY n DESC LIMIT 1"
)
_KNOWN = (
    "SELECT u.url, coalesce(s.url, ''), u.anchor, u.score, u.depth, u.state FROM urls u"
    " LEFT JOIN urls s ON s.id = u.source WHERE u.url = ?"
)


class Step(Struct, frozen=True):
    """One URL on the path, as it was found and as it was judged."""

    url: str
    source: str
    anchor: str
    score: float
    depth: int
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


def read_path(db: CrawlDb, text: str) -> list[Step]:
    """From the seed to the URL; BadInput if the crawl does not know it."""
    url = urls.from_person(text)
    step = _step(db, url) if url else None
    if step is None and url:
        row = db.execute("SELECT url FROM visits WHERE final_url = ? LIMIT 1", (url,)).fetchone()
        step = _step(db, row[0]) if row else None
    if step is None:
        raise BadInput(f"{text}: this crawl does not know the URL")
    path = [step]
    while step.source and (step := _step(db, step.source) or Step(step.source, "", "", 0.0, 0)) not in path:
        path.append(step)
    return path[::-1]


def _step(db: CrawlDb, url: str) -> Step | None:
    row: Any = db.execute(_VISIT, (url,)).fetchone()
    if row:
        values = dict(zip(Step.__struct_fields__, row, strict=False))
        values["on_topic"] = bool(values["on_topic"])
        values["why"] = msgspec.json.decode(values["why"] or "{}", type=dict[str, float])
        return Step(**values)
    row = db.execute(_KNOWN, (url,)).fetchone()
    if not row:
        return None
    step = Step(*row[:5])
    closed = db.execute("SELECT closed FROM hosts WHERE name = ? AND closed != ''", (urls.host(url),)).fetchone()
    fate = "reached by the redirect above" if row[5] == DONE else f"its host is closed: {closed[0]}" if closed else ""
    return replace(step, fate=fate or "it waits")


def draw_path(path: list[Step], console: Console, evidence: Mapping[str, float] | None = None) -> None:
    """The path, the reasons of the verdict, and of the score where the strategy gives any."""
    for number, step in enumerate(path):
        console.print(Text(f"{'  ' * number}{'└ ' if number else ''}{step.url}", style="bold"), soft_wrap=True)
        for line in _lines(step):
            console.print(Text(printable(f"{'  ' * (number + 1)}{line}")), soft_wrap=True)
    _draw_reasons("what moved the verdict", path[-1].why, console)
    _draw_reasons("what made the score (log-odds)", evidence or {}, console)


def _draw_reasons(heading: str, reasons: Mapping[str, float], console: Console) -> None:
    if reasons:
        console.print(f"\n{heading}:")
        for term, weight in reasons.items():
            console.print(Text(printable(f"  {weight:+9.4f}  {term}")), soft_wrap=True)


def _origin(step: Step) -> str:
    """How the crawl came to know it: only a link has a page it was found on, only a search has words without one."""
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
