"""A crawl in another process: is it running, what does it say, and how to start one that outlives its starter."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lycosa import control, summary
from lycosa.control import Request, Unreachable
from lycosa.errors import BadInput
from lycosa.locking import lock
from lycosa.process import as_usual

_CONNECT_S = 1.0


class Unresponsive(BadInput):
    """A crawl runs, but does not respond: it may be starting or about to end."""


def is_running(folder: Path) -> bool:
    """Is a crawl running in this folder?"""
    if not (folder / "crawl.lock").exists() or not os.access(folder / "crawl.lock", os.W_OK):
        return False
    try:
        with lock(folder):
            return False
    except BadInput:
        return True


def is_listening(folder: Path) -> bool:
    """Does a crawl in this folder accept requests? Unlike `is_running`, this never takes the lock, so that it may be
    called often without getting in the way of a crawl that starts."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_CONNECT_S)
        try:
            with control.address(folder) as where:
                client.connect(where)
        except OSError:
            return False
    return True


def reach(folder: Path, request: Request, wait_for_end: bool = False) -> Any:
    """Ask the running crawl. Raises Unreachable if none runs, Unresponsive if it does not respond."""
    try:
        return control.call(folder, request, wait_for_end)
    except Unreachable:
        if is_running(folder):
            raise Unresponsive(
                f"{folder}: another lycosa is running here but does not respond; it may be starting or about to end"
            ) from None
        raise


def read_summary(folder: Path) -> dict[str, Any]:
    """summary.json as the crawl last wrote it, about once a second; empty before the first run."""
    try:
        found = json.loads((folder / summary.NAME).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def start(folder: Path, options: Sequence[str], output: int, what: str = "crawl") -> subprocess.Popen[bytes]:
    """Run `lycosa crawl`, or another command, in a process session of its own: it goes on when the starter ends.
    `output` is the file descriptor that it prints to."""
    command = [sys.executable, "-m", "lycosa", what, *options, "--", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    as_usual(process.pid)
    return process
