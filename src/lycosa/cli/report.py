"""`lycosa report`: one self-contained HTML file about a crawl."""

import time
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from lycosa import config
from lycosa.again import to_toml
from lycosa.cli.folder import Dir, complete_report, is_running
from lycosa.db import CrawlDb
from lycosa.output.html import page, without_secrets
from lycosa.output.picture import harvest_svg
from lycosa.output.report import relevance_order
from lycosa.output.show import status
from lycosa.types import BadInput

NAME = "report.html"
_TOP = 25  # pages and hosts


def report(
    directory: Dir,
    out: Annotated[
        Path | None, typer.Option(help=f"The file to write; {NAME} in the crawl folder if not given.")
    ] = None,
) -> None:
    """Write totals, harvest curve, best pages, errors, hosts and configuration as one HTML file."""
    _, source = config.load(directory)
    db = CrawlDb(directory / "crawl.db", readonly=True).open()
    found = complete_report(db, _TOP)
    now = time.time()
    name = directory.resolve().name
    text = page(
        name,
        status(found, is_running(directory)),
        found,
        harvest_svg({name: pages}) if (pages := relevance_order(db)) else "",
        to_toml(without_secrets(tomllib.loads(source.text))),
        now,
    )
    out = out or directory / NAME
    part = out.with_name(f"{out.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(out)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None
    typer.echo(f"report written to {out}")
