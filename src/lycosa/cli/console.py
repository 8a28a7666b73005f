"""`lycosa console`: run, watch and correct crawls in the browser."""

import socket
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lycosa.types import BadInput

_EXTRA = "the console needs more packages: pip install 'lycosa[console]'"


def console(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER...",
            help="Crawl folders, or folders that contain some; the current folder if none is given.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on. Others than loopback need a password.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="0: any free port.", min=0, max=65_535)] = 8_642,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show everything, but let nobody change it.")] = False,
    password: Annotated[
        str,
        typer.Option(envvar="LYCOSA_CONSOLE_PASSWORD", help="Log in with this password, not by the start address."),
    ] = "",
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A further host name for which requests are accepted; may be repeated."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Start a local web page to run, watch and correct crawls. Crawls go on when it is closed.

    Without a password, the address it prints opens the console once, in one browser; after that a cookie does.
    """
    try:
        import uvicorn

        from lycosa.console.app import make_app
        from lycosa.console.folders import Folders
        from lycosa.console.jobs import Jobs
        from lycosa.console.security import Access, is_local
        from lycosa.console.site import Site
    except ImportError:
        raise BadInput(_EXTRA) from None
    if not is_local(host) and not password:
        raise BadInput(
            f"--host {host}: others on the network could control your crawls and read what they found;"
            " choose a password: LYCOSA_CONSOLE_PASSWORD=... lycosa console --host ..."
        )
    access = Access(host, password, name or [])
    app = make_app(Site(Folders(folders or [Path()]), Jobs(), read_only), access)
    with _listen(host, port) as listening:
        address = _address(host, listening.getsockname()[1])
        start = address if password else f"{address}enter?token={access.token}"
        typer.echo(f"The console is at {start}")
        if not is_local(host):
            typer.echo("It is not encrypted: on a network you do not trust, put it behind a proxy with TLS.", err=True)
        typer.echo("Ctrl-C closes it; crawls go on.", err=True)
        if browser and is_local(host):
            webbrowser.open(start)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        raise BadInput(f"--host {host} --port {port}: cannot listen there: {error.strerror or error}") from None
    return listening


def _address(host: str, port: int) -> str:
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"http://[{shown.strip('[]')}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
