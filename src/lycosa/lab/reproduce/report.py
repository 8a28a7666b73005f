"""A report for readers who do not know the paper: what it claims, how we tested it, and the results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lycosa.lab.reproduce.effects import Effect
from lycosa.lab.reproduce.pictures import Picture, draw
from lycosa.lab.reproduce.process_pool import Outcome
from lycosa.lab.significance import mean
from lycosa.lab.writing import make_folder, writing

PAGE, RESULTS, TIMINGS, CURVES = "report.md", "results.json", "timings.json", "curves.json"
_POLITELY = (
    "All crawls on this page ran on the lab's clock like a crawl of the live Web: one request at a time per host,"
    " one second between two of them, 64 workers, and a response time of 0.2 s."
)
_DIGITS = 6  # digits in results.json: more would be rounding noise


class Table(Struct, frozen=True):
    """A table of figures, published ones next to ours."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


class Report(Struct, frozen=True):
    """Everything about one repeated experiment."""

    name: str
    title: str
    source: str  # of the paper
    claims: str  # its claims, in our words
    protocol: str  # how it measured
    ours: str  # what we did
    effects: Sequence[Effect]
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    caveats: Sequence[str]  # caveats
    data: Mapping[str, Any]  # for results.json


def by_hours(report: Report, outcomes: Sequence[Outcome]) -> Report:
    """Add a table of how long each kind of crawl takes with the politeness of a real crawl, if they ran that way."""
    found: dict[str, list[float]] = {}
    for outcome in outcomes:
        _collect_hours(outcome, "", found)
    if not found:
        return report
    rows = [[name, f"{len(hours)}", f"{mean(hours):.2f}", f"{max(hours):.2f}"] for name, hours in found.items()]
    table = Table("Hours with politeness", ["crawl", "times", "hours, mean", "hours, longest"], rows, _POLITELY)
    return replace(report, tables=[*report.tables, table], data={**report.data, "hours": found})


def _collect_hours(figures: Any, name: str, found: dict[str, list[float]]) -> None:
    if isinstance(figures, Mapping):
        if "hours" in figures:
            found.setdefault(name, []).append(figures["hours"])
        for key, value in figures.items():
            _collect_hours(value, str(key), found)


def write(report: Report, timings: Mapping[str, Any], out: Path) -> None:
    """Write the page, its plots and the figures; timings go to a separate file, because they are never the same."""
    make_folder(out)
    with writing(out):
        for picture in report.pictures:
            draw(picture, out)
        (out / PAGE).write_text(page(report), encoding="utf-8")
        effects = [msgspec.to_builtins(effect) for effect in report.effects]
        _write_json({"experiment": report.name, "effects": effects, **report.data}, out / RESULTS)
        _write_json(timings, out / TIMINGS)
        _write_json({"pictures": msgspec.to_builtins(report.pictures)}, out / CURVES)


def page(report: Report) -> str:
    """The report in Markdown."""
    parts = [
        f"# {report.title}",
        f"*{report.source}*",
        "## What the paper claims",
        flow(report.claims),
        "## How it measured",
        flow(report.protocol),
        "## What we did",
        flow(report.ours),
        "## Results",
        verdicts(report.effects),
        flow(_LEGEND),
        *(part for picture in report.pictures for part in (_image(picture), flow(picture.caption))),
        *(_table(table) for table in report.tables),
        "## Caveats",
        "\n".join(f"- {flow(caveat)}" for caveat in report.caveats),
        f"All figures are in `{RESULTS}`, timings in `{TIMINGS}`, curves in `{CURVES}`; every plot is also an SVG.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def flow(text: str) -> str:
    """Each paragraph on one line, however it is wrapped in the source; empty lines separate paragraphs."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _image(picture: Picture) -> str:
    return f"![{picture.title}]({picture.name}.png)"


def verdicts(effects: Sequence[Effect]) -> str:
    """The claims, one by one."""
    rows = [
        [effect.claim, effect.criterion, effect.measured, effect.direction, f"**{effect.outcome}**"]
        for effect in effects
    ]
    return _rows(["the document says", "we call it reproduced if", "we measured", "direction", _VERDICT], rows)


def summary(reports: Sequence[Report]) -> str:
    """One page over several experiments: every claim and its verdict."""
    rows = [
        [_link(report), effect.claim, effect.measured or effect.criterion, effect.direction, f"**{effect.outcome}**"]
        for report in reports
        for effect in report.effects
    ]
    counts: dict[str, int] = {}
    for report in reports:
        for effect in report.effects:
            counts[effect.outcome] = counts.get(effect.outcome, 0) + 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items(), key=lambda item: -item[1]))
    told = f"{sum(counts.values())} claims: {told}. {_OVER_ALL}"
    documents = "\n".join(f"- {_link(report)}: {report.title} *{report.source}*" for report in reports)
    parts = ["# The published experiments, repeated", flow(told), documents, _rows(_SUMMARY, rows), flow(_LEGEND)]
    return "\n\n".join(parts) + "\n"


def _link(report: Report) -> str:
    return f"[{report.name}]({report.name}/{PAGE})"


_VERDICT = "verdict"
_SUMMARY = ["experiment", "the document says", "we measured", "direction", _VERDICT]
_OVER_ALL = """
Each paper describes a crawler and what it does better than others. We built the crawler, repeated the experiment on a
smaller web, and checked every claim. The report of each experiment shows the published figures next to ours, with the
criterion of every verdict, plots, and caveats.
"""
_LEGEND = """
How to read it: figures are means over n tasks (topics, sets of seeds, or sites); a difference is given with its
standard error (±), its size relative to the second figure, and p, the probability of a difference that large by chance
alone. *Direction* is where the figures point (no difference: at most one standard error), *verdict* whether the
criterion was met: a difference in the claimed direction is still not reproduced if it may be due to chance, or if one
of several comparisons points the other way. Harvest *ratio*: mean relevance of the fetched pages; harvest *rate*:
share of them that are relevant; *recall*: share of the targets that were fetched.
"""


def _table(table: Table) -> str:
    return "\n\n".join(filter(None, [f"### {table.title}", _rows(table.columns, table.rows), flow(table.note)]))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    prose = columns[-1] == _VERDICT  # sentences: not aligned like figures
    rule = ["---" if place == 0 or prose else "--:" for place in range(len(columns))]
    lines = [columns, rule, *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _write_json(data: Mapping[str, Any], path: Path) -> None:
    text = msgspec.json.encode(_rounded(data), order="deterministic")
    path.write_bytes(msgspec.json.format(text, indent=1) + b"\n")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
