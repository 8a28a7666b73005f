"""Commands for a running crawl: pause, resume, stop, add, exclude, prefer, retry. The last four need none running."""

import fcntl
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa import config, offline
from lycosa.cli.folder import Dir
from lycosa.control import Request, Unreachable
from lycosa.remote import reach
from lycosa.session import checked_urls
from lycosa.store import orders
from lycosa.types import BadInput


class Where(StrEnum):
    first = "first"
    last = "last"
    usual = "usual"


def pause(directory: Dir) -> None:
    """Pause a running crawl: no new request starts, requests in flight finish."""
    done = _call(directory, Request("pause"))
    flying = done["in_flight"]
    told = f"paused; {flying:,} {_plural(flying, 'request')} in flight will finish" if flying else "paused"
    typer.echo(f"{told}. Continue with: lycosa resume {_name(directory)}" if done["changed"] else "already paused")


def resume(directory: Dir) -> None:
    """Resume a paused crawl."""
    typer.echo("resumed" if _call(directory, Request("resume"))["changed"] else "it is not paused")


def stop(directory: Dir) -> None:
    """Stop a running crawl as Ctrl-C does, and wait until its process has exited; `lycosa crawl` continues it later."""
    _call(directory, Request("stop"), wait_for_end=True)
    with (directory / "crawl.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    typer.echo(f"stopped. Continue with: lycosa crawl {_name(directory)}")


def add(
    directory: Dir,
    url: Annotated[list[str], typer.Argument(metavar="URL", help="The seeds to add.", show_default=False)],
) -> None:
    """Add seeds: a running crawl fetches them next, otherwise the next run does. They stay seeds of this crawl."""
    found = checked_urls(url)
    config.load(directory)
    try:
        outcome, running = reach(directory, Request("add", urls=found)), True
    except Unreachable:
        outcome, running = offline.add(directory, found), False
    kinds = {kind: [one for one in outcome if outcome[one] == kind] for kind in ("added", "known")}
    when = "" if running else f", to be fetched by the next run: lycosa crawl {_name(directory)}"
    known = f"; {len(kinds['known']):,} already known" if kinds["known"] else ""
    typer.echo(f"{len(kinds['added']):,} {_plural(len(kinds['added']), 'seed')} added{known}{when}")
    refused = {one: why for one, why in outcome.items() if why not in kinds}
    for one, why in refused.items():
        print(f"lycosa: {one}: not added ({why})", file=sys.stderr)
    if refused:
        raise typer.Exit(2)


def exclude(
    directory: Dir,
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="Fetch nothing more from this host.", show_default=False)
    ] = "",
    pattern: Annotated[
        str, typer.Option(metavar="REGEX", help="Fetch no URL in which this regular expression is found.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before dropping URLs.")] = False,
) -> None:
    """Permanently exclude a host or a pattern, whether the crawl runs or not. Says first how many URLs it drops."""
    what = orders.exclusion(host, pattern)
    config.load(directory)
    counted = _either(directory, Request("count", host=what.host, pattern=what.pattern), what)
    drops = f"{what}: {counted:,} queued {_plural(counted, 'URL')}"
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput(f"{drops} would be dropped; nothing was changed; --yes skips the question")
        typer.confirm(f"{drops} will be dropped. Exclude?", abort=True)
    dropped = _either(directory, Request("exclude", host=what.host, pattern=what.pattern), what)
    typer.echo(f"{what} excluded: {dropped:,} queued {_plural(dropped, 'URL')} dropped")


def prefer(
    directory: Dir,
    place: Annotated[
        Where,
        typer.Argument(
            metavar="first|last|usual",
            help="Before all other URLs, after them, or where their scores put them.",
            show_default=False,
        ),
    ],
    host: Annotated[str, typer.Argument(metavar="HOST", help="The host, or host:port.", show_default=False)] = "",
    pattern: Annotated[str, typer.Option(metavar="REGEX", help="A regular expression searched in whole URLs.")] = "",
) -> None:
    """Fetch the URLs of a host or a pattern first or last. It applies to those queued now, not to ones found later."""
    what = orders.exclusion(host, pattern)
    config.load(directory)
    try:
        moved = int(reach(directory, Request("prefer", host=what.host, pattern=what.pattern, place=place.value)))
    except Unreachable:
        moved = offline.prefer(directory, what, place.value)
    told = "where their scores put them" if place is Where.usual else place.value
    typer.echo(f"{what}: {moved:,} queued {_plural(moved, 'URL')} will be fetched {told}")


def retry(
    directory: Dir,
    url: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Failed URLs; default: all.", show_default=False)
    ] = None,
    kind: Annotated[str, typer.Option(help="Only failures of this kind, such as timeout or http-503.")] = "",
) -> None:
    """Queue failed URLs again: a running crawl fetches them in their turn, otherwise the next run does."""
    config.load(directory)
    found, when = checked_urls(url) if url else [], ""
    try:
        queued = int(reach(directory, Request("retry", urls=found, kind=kind)))
    except Unreachable:
        queued = offline.retry_failed(directory, found, kind)
        when = f", to be fetched by the next run: lycosa crawl {_name(directory)}" if queued else ""
    typer.echo(f"{queued:,} failed {_plural(queued, 'URL')} queued again{when}")


def _either(directory: Path, request: Request, what: orders.Exclusion) -> int:
    try:
        return int(reach(directory, request))
    except Unreachable:
        return (offline.count if request.do == "count" else offline.exclude)(directory, what)


def _call(directory: Path, request: Request, wait_for_end: bool = False) -> Any:
    config.load(directory)  # reports what is wrong if this is not a crawl folder
    try:
        return reach(directory, request, wait_for_end)
    except Unreachable:
        raise BadInput(
            f"{directory}: no crawl is running here; start one with: lycosa crawl {_name(directory)}"
        ) from None


def _name(directory: Path) -> str:
    return shlex.quote(str(directory))


def _plural(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"
