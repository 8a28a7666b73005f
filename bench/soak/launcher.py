"""Runs the command line of Lycosa in a process whose clock, names, network and descriptors can be tampered with.

python launcher.py CONTROL CLOCK_S FILES NAMES PAUSE_S lycosa-arguments...

CONTROL is a descriptor to read commands from (-1: none), CLOCK_S how far the clock is off from the start, FILES a limit
on descriptors (0: none), NAMES a JSON file of host names and their addresses, PAUSE_S how soon the network is tried
again in an outage. Commands, one a line:

    clock SECONDS          move the wall clock; the monotonic one goes on as it does
    dns fail|hang|up       the name server
    net unreachable|up     new connections fail at once
    files ROOM|up          so many more descriptors may be opened
    size BYTES|up          no file may grow further: a disk without room
"""

import asyncio
import errno
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

CLOCK = [0.0]  # seconds by which the wall clock is off
STATE = {"dns": "up", "net": "up"}
_real_time, _real_time_ns = time.time, time.time_ns


def tamper_with_clock() -> None:
    time.time = lambda: _real_time() + CLOCK[0]
    time.time_ns = lambda: _real_time_ns() + int(CLOCK[0] * 1e9)


def tamper_with_network(names: dict[str, str]) -> None:
    """Stand in for the name server and for the network card, at the seams of the HTTP library."""
    import aiohappyeyeballs
    import aiohttp

    class Names(aiohttp.abc.AbstractResolver):
        def __init__(self, *_: Any, **__: Any) -> None:
            """Takes what the resolvers of the library take."""

        async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
            while STATE["dns"] == "hang":
                await asyncio.sleep(0.05)
            if STATE["dns"] == "fail" or host not in names:
                raise OSError(None, "Temporary failure in name resolution")
            ip = names[host]
            return [{"hostname": host, "host": ip, "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}]

        async def close(self) -> None:
            """Nothing is open."""

    connect = aiohappyeyeballs.start_connection

    async def start_connection(*arguments: Any, **options: Any) -> Any:
        if STATE["net"] == "unreachable":
            raise OSError(errno.ENETUNREACH, "Network is unreachable")
        return await connect(*arguments, **options)

    for module in (aiohttp, aiohttp.resolver, aiohttp.connector):
        for name in ("DefaultResolver", "AsyncResolver", "ThreadedResolver"):
            if hasattr(module, name):
                setattr(module, name, Names)
    aiohappyeyeballs.start_connection = start_connection


def limit_files(room: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = len(os.listdir("/proc/self/fd")) - 1 + room if room >= 0 else most
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, most), most))


def limit_size(most_bytes: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes if most_bytes >= 0 else most, most))


def obey(control: int) -> None:
    with os.fdopen(control) as commands:
        for line in commands:
            name, value = line.split()
            if name == "clock":
                CLOCK[0] += float(value)
            elif name == "files":
                limit_files(-1 if value == "up" else int(value))
            elif name == "size":
                limit_size(-1 if value == "up" else int(value))
            else:
                STATE[name] = value


def main() -> None:
    control, clock_s, files, names, pause_s = sys.argv[1:6]
    CLOCK[0] = float(clock_s)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is ignored where the soak was started with nohup
    if int(files):
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(files), int(files)))
    tamper_with_clock()
    tamper_with_network(json.loads(Path(names).read_text()))
    if int(control) >= 0:
        threading.Thread(target=obey, args=(int(control),), daemon=True).start()
    sys.argv[:] = ["lycosa", *sys.argv[6:]]
    from lycosa.__main__ import main as lycosa
    from lycosa.fetch import outage

    outage.FIRST_PAUSE_S = float(pause_s)
    lycosa()


if __name__ == "__main__":
    main()
