"""`lycosa find`: full-text search over the relevant pages of a crawl."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from lycosa import config
from lycosa.cli.folder import Dir
from lycosa.output import terminal
from lycosa.search_index.finding import Hit, Results, Wanted
from lycosa.search_index.finding import find as find_pages
from lycosa.search_index.updating import BATCH, Busy, update
from lycosa.store.db import CrawlDb
from lycosa.types import BadInput

_MOST_TITLE = 100


def find(  # noqa: PLR0913 - the arguments are the command line's options
    directory: Dir,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help='Words; also "a phrase", -without and OR.')],
    host: Annotated[str, typer.Option(metavar="NAME", help="Only pages of this host.")] = "",
    label: Annotated[str, typer.Option(metavar="CLASS", help="Only pages of this class.")] = "",
    since: Annotated[str, typer.Option(metavar="DATE", help="Only pages fetched on this day or later.")] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Only pages fetched before this day.")] = "",
    count: Annotated[int, typer.Option(help="How many results to show.", min=1, max=300)] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Search the text of the relevant pages. The first search builds an index in the crawl folder; later ones add what
    is new. Near duplicates are shown as one result."""
    config.load(directory)  # reports what is wrong if this is not a crawl folder
    CrawlDb(directory / "crawl.db", readonly=True).open().close()
    if option := next((word for word in words if word.startswith("--")), ""):  # -without is a word, --with is not
        raise BadInput(f"{option}: there is no such option")
    asked = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    wanted = Wanted(asked, host.lower(), label, "", _time(since, "--since"), _time(until, "--until"))
    try:
        update(directory, _report)
    except Busy:
        typer.echo("lycosa: another process is updating the index; searching what it holds so far", err=True)
    found = find_pages(directory, wanted, count)
    if json:
        typer.echo(msgspec.json.encode(found).decode())
    else:
        _draw(found, terminal.console())


def _report(done: int, total: int) -> None:
    """Only a long update is worth a line."""
    if total > BATCH:
        typer.echo(f"{done:,} of {total:,} pages indexed", err=True)


def _time(text: str, option: str) -> int | None:
    try:
        return int(datetime.fromisoformat(text).timestamp()) if text else None
    except (ValueError, OverflowError, OSError):
        raise BadInput(f"{option} {text[:40]}: not a date; write 2026-01-31") from None


def _draw(found: Results, console: Console) -> None:
    if not found.hits:
        console.print("no relevant page has these words")
        return
    for hit in found.hits:
        _draw_hit(hit, console)
    pages = f"{found.pages:,} {'page' if found.pages == 1 else 'pages'}"
    console.print(f"{len(found.hits):,} of {found.results:,} results, {pages} in all")


def _draw_hit(hit: Hit, console: Console) -> None:
    title = terminal.printable(hit.title[:_MOST_TITLE]) or "(no title)"
    label = f"  {hit.label}" if hit.label else ""
    console.print(Text(f"{hit.relevance:.2f}  {title}{terminal.printable(label)}", style="bold"), soft_wrap=True)
    console.print(Text(f"      {terminal.printable(hit.url)}", style="cyan"), soft_wrap=True)
    line = Text("      ")
    for piece in hit.snippet:
        line.append(terminal.printable(piece.text), "bold green" if piece.is_hit else "")
    console.print(line, soft_wrap=True)
    if hit.same:
        console.print(f"      and {len(hit.same)} with nearly the same text")
