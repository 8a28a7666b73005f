"""`lycosa console`: run, watch and correct crawls in the browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lycosa.process import give_way
from lycosa.types import BadInput

Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FOLDER...",
        help="Crawl folders, or folders that contain some; the current folder if none is given.",
        show_default=False,
    ),
]
Host = Annotated[str, typer.Option(help="The address to listen on. Any but a loopback address needs a password.")]
Port = Annotated[int, typer.Option(help="0: any free port.", min=0, max=65_535)]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Show everything, but let nobody change anything.")]
Password = Annotated[
    str,
    typer.Option(envvar="LYCOSA_CONSOLE_PASSWORD", help="Log in with this password instead of the printed address."),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="HOST", help="An additional host name to answer to; may be repeated."),
]


def console(
    folders: Folders = None,
    host: Host = "127.0.0.1",
    port: Port = 8_642,
    read_only: ReadOnly = False,
    password: Password = "",
    names: Names = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Start a local web page to run, watch and correct crawls. Crawls go on when it is closed.

    Without a password, the address it prints opens the console once, in one browser; after that a cookie does.
    """
    try:
        from lycosa.console import app, security, serve
    except ImportError:
        raise BadInput("the console needs more packages: pip install 'lycosa[console]'") from None
    is_local = security.is_local(host)
    if not is_local and not password:
        raise BadInput(
            f"--host {host}: others on the network could control your crawls and read what they found;"
            " choose a password: LYCOSA_CONSOLE_PASSWORD=... lycosa console --host ..."
        )
    access = security.Access(host, password, names or [])
    made = app.of_folders(folders or [Path()], access, read_only)
    listening = serve.listen(host, port)
    start = serve.address(host, listening.getsockname()[1])
    start = start if password else f"{start}enter?token={access.token}"
    typer.echo(f"The console is at {start}")
    if not is_local:
        typer.echo("It is not encrypted: on a network you do not trust, put it behind a proxy with TLS.", err=True)
    typer.echo("Ctrl-C closes it; crawls go on.", err=True)

    def begin() -> None:
        if browser and is_local:
            webbrowser.open(start)
        give_way()  # a crawl that is being watched goes first; the browser does not inherit this

    serve.serve(made, listening, begin)
