"""Serve the console until Ctrl-C."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from lycosa.types import BadInput

_CLOSE_S = 3  # for browsers that still listen to a live view


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0: any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(128)  # before the address is printed, so that it works from then on
    except OSError as error:
        listening.close()
        raise BadInput(f"--host {host} --port {port}: cannot listen there: {error.strerror or error}") from None
    return listening


def address(host: str, port: int) -> str:
    """How a browser reaches it."""
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"http://[{shown.strip('[]')}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def serve(app: Starlette, listening: socket.socket, ready: Callable[[], object] = lambda: None) -> None:
    """Run until a signal arrives; `ready` is called once connections are accepted."""
    settings = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSE_S,
    )

    server = uvicorn.Server(settings)
    app.state.is_closing = lambda: server.should_exit

    async def run() -> None:
        asyncio.get_running_loop().call_soon(ready)
        await server.serve(sockets=[listening])

    with listening:
        asyncio.run(run())
