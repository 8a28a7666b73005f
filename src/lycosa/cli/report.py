"""`lycosa report`: one self-contained HTML file about a crawl."""

import time
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from lycosa import config
from lycosa.again import to_toml
from lycosa.cli.folder import Dir, complete_report
from lycosa.files import unwritable, write_whole
from lycosa.output.html import page, without_secrets
from lycosa.output.picture import harvest_svg
from lycosa.output.show import status
from lycosa.remote import is_running
from lycosa.store.db import CrawlDb
from lycosa.store.visited import relevance_order

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
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise unwritable(out, error) from None
    typer.echo(f"report written to {out}")
