"""A page that tells somebody who has not read the document what it claims, how we tried it, and what came of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from lycosa.lab.reproduce.effects import Effect
from lycosa.lab.reproduce.pictures import Picture, draw
from lycosa.types import BadInput

PAGE, RESULTS, TIMINGS = "report.md", "results.json", "timings.json"
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


def write(report: Report, timings: Mapping[str, Any], out: Path) -> None:
    """The page, its pictures, the figures behind them; how long it took lies apart, since it never repeats."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for picture in report.pictures:
            draw(picture, out)
        (out / PAGE).write_text(page(report), encoding="utf-8")
        effects = [msgspec.to_builtins(effect) for effect in report.effects]
        _write_json({"experiment": report.name, "effects": effects, **report.data}, out / RESULTS)
        _write_json(timings, out / TIMINGS)
    except OSError as error:
        raise BadInput(f"{error.filename or out}: cannot be written: {error.strerror}") from None


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
    rows = [[effect.claim, effect.criterion, effect.measured, f"**{effect.outcome}**"] for effect in effects]
    return _rows(["the document says", "we call it reproduced if", "we measured", ""], rows)


def summary(reports: Sequence[Report]) -> str:
    """One page over several experiments: every claim and its verdict."""
    rows = [
        [_link(report), effect.claim, effect.measured or effect.criterion, f"**{effect.outcome}**"]
        for report in reports
        for effect in report.effects
    ]
    counts: dict[str, int] = {}
    for report in reports:
        for effect in report.effects:
            counts[effect.outcome] = counts.get(effect.outcome, 0) + 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items(), key=lambda item: -item[1]))
    heading = "# The published experiments, done again"
    return "\n\n".join([heading, f"{sum(counts.values())} claims: {told}.", _rows(_SUMMARY, rows)]) + "\n"


def _link(report: Report) -> str:
    return f"[{report.name}]({report.name}/{PAGE})"


_SUMMARY = ["experiment", "the document says", "we measured", ""]


def _table(table: Table) -> str:
    return "\n\n".join(filter(None, [f"### {table.title}", _rows(table.columns, table.rows), flow(table.note)]))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    prose = columns[-1] == ""  # a verdict at the end: no figures to be set under each other
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
