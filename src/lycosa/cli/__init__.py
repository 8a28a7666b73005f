"""The command line: parse arguments, call, print.

Exit codes: 0 success, 1 a crawl without any pages or without any host that answers, or damage found, 2 bad input,
70 a bug in a judge or strategy, 130 stopped by the user.
"""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer

from lycosa import __version__
from lycosa.cli import control, export, folder
from lycosa.cli.errors import exit_code, explain
from lycosa.cli.verbose import VERBOSE, be_verbose
from lycosa.output.terminal import guard_terminal
from lycosa.parse.memory import keep_memory

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
    "pause": control.pause,
    "resume": control.resume,
    "stop": control.stop,
    "add": control.add,
    "exclude": control.exclude,
    "prefer": control.prefer,
    "retry": control.retry,
}
for _name, _command in _PLAIN.items():
    app.command(_name)(_command)


@cache
def mount_the_rest() -> typer.Typer:
    """Add the other commands, which take a while to load, only when one of them may be wanted."""
    from lycosa.cli import lab, topic, urls
    from lycosa.cli.again import again
    from lycosa.cli.check import check, repair
    from lycosa.cli.console import console
    from lycosa.cli.find import find
    from lycosa.cli.label import label
    from lycosa.cli.rejudge import rejudge
    from lycosa.cli.report import report
    from lycosa.cli.reproduce import reproduce
    from lycosa.cli.rules import rules

    app.command("again")(again)
    app.command("find", context_settings={"ignore_unknown_options": True})(find)  # for -without
    app.command("label")(label)
    app.command("console")(console)
    app.command("report")(report)
    app.command("rejudge")(rejudge)
    app.command("check")(check)
    app.command("repair")(repair)
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
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
    verbose: Annotated[bool, VERBOSE] = False,
) -> None:
    """A focused web crawler: say what to look for and where to start."""
    be_verbose(verbose)


def main() -> None:
    guard_terminal()
    keep_memory()
    try:
        if len(sys.argv) < 2 or sys.argv[1] not in _PLAIN:
            mount_the_rest()
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output is gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if not (line := explain(error, sys.argv[1:])):
            raise
        print(f"lycosa: {' '.join(line.split())}", file=sys.stderr)
        sys.exit(exit_code(error, sys.argv[1:]))
