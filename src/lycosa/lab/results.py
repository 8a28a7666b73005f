"""The results of a comparison as results.json: figures and curves of every run, reproducible byte for byte."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.files import write_whole
from lycosa.lab import metrics
from lycosa.lab.answer import Pages
from lycosa.lab.estimates import Errors
from lycosa.lab.one import LabCrawl
from lycosa.lab.prepare import Prepared
from lycosa.lab.writing import writing
from lycosa.types import BadInput

NAME = "results.json"
FORMAT = 1
SHARES = (10, 25, 50, 100)  # percent of the pages at which recall is reported
_DIGITS = 6


class Facts(Struct, frozen=True):
    """A task in numbers."""

    name: str
    repeat: int
    web: str
    pages: int  # that may be fetched
    seeds: list[str]
    target: list[str]
    examples: int  # targets used as examples
    targets: int  # that can be reached
    unreachable: int
    reachable: int  # pages, targets or not


class Run(Struct, frozen=True, omit_defaults=True):
    """One strategy on one task."""

    task: str
    strategy: str
    repeat: int
    area: float  # area under recall, divided by the page budget; 1: all targets were found at once
    recall: dict[str, float]  # recall after these percentages of the page budget
    harvest_rate: float  # share of the fetched pages that have a target's label
    harvest_ratio: float  # mean relevance of the fetched pages according to the judge
    pages: int
    failures: int
    ended: str
    order: list[str]  # URLs of the pages in fetch order; the curves have a value for each
    found: list[int]  # targets so far
    harvest: list[float]  # harvest rate so far
    relevance: list[float]  # harvest ratio so far
    hours: float = 0.0  # on the lab's clock; in strict order no time passes
    seconds: list[float] = []  # when each page had been fetched
    f1: float = 0.0  # of the judge's last verdicts on the fetched pages, examples left out
    labels: int = 0  # given by a simulated person
    estimates: list[Errors] = []  # of recall, beside the truth


class Timing(Struct, frozen=True):
    """How long a run took: never the same twice, so it is kept separately."""

    seconds: float
    cpu_s: float


class Results(Struct, frozen=True):
    """All runs of a comparison."""

    strategies: dict[str, dict[str, Any]]
    tasks: list[Facts]
    runs: list[Run]
    timings: dict[str, Timing] = {}  # by task, strategy and repeat
    format: int = FORMAT


def encode(results: Results, timings: bool = True) -> bytes:
    """As JSON, one line per run, the timings on the last; without them the same comparison gives the same bytes."""
    plain = msgspec.to_builtins(results)
    times = plain.pop("timings")
    lines = []
    for name in ("format", "strategies", "tasks", "runs"):
        value = plain[name]
        text = ",\n".join(map(_json, value)) if isinstance(value, list) else _json(value)
        lines.append(f'"{name}": ' + (f"[\n{text}\n]" if isinstance(value, list) else text))
    if timings:
        lines.append(f'"timings": {_json(times)}')
    return ("{" + ",\n".join(lines) + "}\n").encode()


def save(results: Results, path: Path) -> None:
    """Write the file completely or not at all."""
    with writing(path):
        write_whole(path, encode(results))


def load(path: Path) -> Results:
    """Read the results of a comparison."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Results)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"{path}: not the results of a comparison: {error}") from None
    if found.format > FORMAT:
        raise BadInput(f"{path}: written by a newer Lycosa (format {found.format}; this one reads up to {FORMAT})")
    return found


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def facts(prepared: Prepared, repeat: int) -> Facts:
    task = prepared.task
    return Facts(
        name=task.name,
        repeat=repeat,
        web=task.web,
        pages=task.pages,
        seeds=prepared.seeds,
        target=task.target or task.hosts,
        examples=len(prepared.examples),
        targets=len(prepared.targets),
        unreachable=prepared.unreachable,
        reachable=prepared.reachable,
    )


def measure(prepared: Prepared, strategy: str, repeat: int, crawl: LabCrawl, web: Pages) -> Run:
    """The result of a crawl, page by page."""
    budget, order, pages = prepared.task.pages, crawl.order(web.page), crawl.pages
    positives, targets = set(prepared.positives), set(prepared.targets)
    recall = metrics.recall_curve(order, targets)
    harvest = metrics.harvest_curve([page in positives for page in order])
    relevance = metrics.running_mean([page.relevance for page in pages])
    return Run(
        task=prepared.task.name,
        strategy=strategy,
        repeat=repeat,
        area=_short(metrics.area_under_recall(order, targets, budget)),
        recall={str(share): _short(value_at(recall, budget * share // 100)) for share in SHARES},
        harvest_rate=_short(value_at(harvest, budget)),
        harvest_ratio=_short(value_at(relevance, budget)),
        pages=len(pages),
        failures=len(crawl.fetches) - len(pages),
        ended=crawl.ended,
        order=[page.url for page in pages],
        found=[round(value * len(targets)) for value in recall],
        harvest=list(map(_short, harvest)),
        relevance=list(map(_short, relevance)),
        hours=crawl.hours.get("hours", 0.0),
        seconds=[page.at for page in pages] if crawl.seconds else [],
        f1=_short(_f1(prepared, crawl, web)),
    )


def _f1(prepared: Prepared, crawl: LabCrawl, web: Pages) -> float:
    """Of `on_topic`, by the labels of the web."""
    positives, examples = set(prepared.positives), set(prepared.examples)
    judged = {web.page(page.final_url): page.on_topic for page in crawl.pages if not page.duplicate_of}
    said = {page for page, on_topic in judged.items() if on_topic and page not in examples}
    return metrics.effectiveness(len(said & positives), len(said), len((positives - examples) & judged.keys())).f1


def value_at(curve: Sequence[float], page: int) -> float:
    """The value after this many pages; a crawl that ended earlier keeps its last value."""
    return curve[min(page, len(curve)) - 1] if curve and page else 0.0


def _short(value: float) -> float:
    return round(value, _DIGITS)
