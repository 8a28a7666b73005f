"""The command line: parse arguments, call, print.

Exit codes: 0 done, 1 a crawl that has no pages at all, 2 bad input, 130 stopped by the user.
"""

import os
import sqlite3
import sys
from collections.abc import Callable
from functools import cache

import typer

from lycosa import __version__
from lycosa.cli import export, folder
from lycosa.parse.memory import keep_memory
from lycosa.types import BadInput

app = typer.Typer(
    name="lycosa",
    help="A focused web crawler: say what to look for and where to start.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_PLAIN: dict[str, Callable[..., None]] = {
    "new": folder.new,
    "crawl": folder.crawl,
    "show": folder.show,
    "why": folder.why,
    "export": export.export,
}
for _name, _command in _PLAIN.items():
    app.command(_name)(_command)


@cache
def mount_the_rest() -> typer.Typer:
    """The other commands, which take a while to load: only when one of them may be meant."""
    from lycosa.cli import lab, topic, urls
    from lycosa.cli.again import again
    from lycosa.cli.rejudge import rejudge
    from lycosa.cli.report import report
    from lycosa.cli.reproduce import reproduce
    from lycosa.cli.rules import rules

    app.command("again")(again)
    app.command("report")(report)
    app.command("rejudge")(rejudge)
    topic.app.command("rules")(rules)
    lab.app.command("reproduce")(reproduce)
    app.add_typer(topic.app, name="topic")
    app.add_typer(urls.app, name="urls")
    app.add_typer(lab.app, name="lab")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lycosa {__version__}")
        raise typer.Exit


@app.callback()
def lycosa(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="The version."),
) -> None:
    """A focused web crawler: say what to look for and where to start."""


def main() -> None:
    keep_memory()
    try:
        if len(sys.argv) < 2 or sys.argv[1] not in _PLAIN:
            mount_the_rest()
        app()
    except BadInput as error:
        print(f"lycosa: {error}", file=sys.stderr)
        sys.exit(2)
    except sqlite3.DatabaseError as error:
        print(f"lycosa: crawl.db: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
