"""A page that tells somebody who has not read the document what it claims, how we tried it, and what came of it."""

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

PAGE, RESULTS, TIMINGS = "report.md", "results.json", "timings.json"
_POLITELY = (
    "All crawls of this page ran on the lab's clock as a crawl of the live Web does: one request at a time per host,"
    " a second between two of them, 64 workers, servers that take 0.2 s to answer."
)
_DIGITS = 6  # of a number in results.json: more would be noise of the last bits


class Table(Struct, frozen=True):
    """Figures in rows; published ones beside ours."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


class Report(Struct, frozen=True):
    """Everything there is to say about one experiment done again."""

    name: str
    title: str
    source: str  # of the document
    claims: str  # what it says, in our words
    protocol: str  # how it measured
    ours: str  # what we did
    effects: Sequence[Effect]
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    caveats: Sequence[str]  # what a reader must know before believing it
    data: Mapping[str, Any]  # for results.json


def by_hours(report: Report, outcomes: Sequence[Outcome]) -> Report:
    """With a table of how long each kind of crawl takes at the politeness of a real crawl, if they were done so."""
    found: dict[str, list[float]] = {}
    for outcome in outcomes:
        _collect_hours(outcome, "", found)
    if not found:
        return report
    rows = [[name, f"{len(hours)}", f"{mean(hours):.2f}", f"{max(hours):.2f}"] for name, hours in found.items()]
    table = Table("Hours, politely", ["crawl", "times", "hours, mean", "hours, longest"], rows, _POLITELY)
    return replace(report, tables=[*report.tables, table], data={**report.data, "hours": found})


def _collect_hours(figures: Any, name: str, found: dict[str, list[float]]) -> None:
    if isinstance(figures, Mapping):
        if "hours" in figures:
            found.setdefault(name, []).append(figures["hours"])
        for key, value in figures.items():
            _collect_hours(value, str(key), found)


def write(report: Report, timings: Mapping[str, Any], out: Path) -> None:
    """The page, its pictures, the figures behind them; how long it took lies apart, since it never repeats."""
    make_folder(out)
    with writing(out):
        for picture in report.pictures:
            draw(picture, out)
        (out / PAGE).write_text(page(report), encoding="utf-8")
        effects = [msgspec.to_builtins(effect) for effect in report.effects]
        _write_json({"experiment": report.name, "effects": effects, **report.data}, out / RESULTS)
        _write_json(timings, out / TIMINGS)


def page(report: Report) -> str:
    """The report in Markdown."""
    parts = [
        f"# {report.title}",
        f"*{report.source}*",
        "## What the document claims",
        flow(report.claims),
        "## How it measured",
        flow(report.protocol),
        "## What we did",
        flow(report.ours),
        "## What came of it",
        verdicts(report.effects),
        flow(_LEGEND),
        *(part for picture in report.pictures for part in (_image(picture), flow(picture.caption))),
        *(_table(table) for table in report.tables),
        "## Before you believe it",
        "\n".join(f"- {flow(caveat)}" for caveat in report.caveats),
        f"All figures are in `{RESULTS}`, how long the crawls took in `{TIMINGS}`; every picture is there as SVG too.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def flow(text: str) -> str:
    """Paragraphs on one line each, however the text was broken in the source; empty lines part them."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _image(picture: Picture) -> str:
    return f"![{picture.title}]({picture.name}.png)"


def verdicts(effects: Sequence[Effect]) -> str:
    """The claims one by one."""
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
    parts = ["# The published experiments, done again", flow(told), documents, _rows(_SUMMARY, rows), flow(_LEGEND)]
    return "\n\n".join(parts) + "\n"


def _link(report: Report) -> str:
    return f"[{report.name}]({report.name}/{PAGE})"


_VERDICT = "verdict"
_SUMMARY = ["experiment", "the document says", "we measured", "direction", _VERDICT]
_OVER_ALL = """
Each document describes a crawler and what it does better than others. We built the crawler, repeated the experiment
on a smaller web, and asked of every claim whether it shows. Published figures stand beside ours in the report of
each experiment, with the criterion of every verdict, pictures, and what to know before believing it.
"""
_LEGEND = """
How to read it: figures are means over n tasks (topics, sets of seeds, or sites); a difference has its standard
error (±), its size in relation to the second figure, and p, how likely it is to be that large by luck alone.
*Direction* is the way the figures go (no difference: no more than one standard error), *verdict* whether the
criterion was met: what goes as claimed is still not reproduced where it may be luck, or where one of several
comparisons goes the other way. Harvest *ratio*: mean relevance of the fetched pages; harvest *rate*: share of them
that are relevant; *recall*: share of the targets that were fetched.
"""


def _table(table: Table) -> str:
    return "\n\n".join(filter(None, [f"### {table.title}", _rows(table.columns, table.rows), flow(table.note)]))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    prose = columns[-1] == _VERDICT  # sentences: no figures to be set under each other
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
