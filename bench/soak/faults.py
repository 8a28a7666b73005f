"""What may happen to a crawl. Each fault is done to a stage on which a crawl runs, and says in a word what it did.

A fault that ends the crawler leaves the stage without one; the round then runs the same command again. None is
returned when the crawl ended before the fault could strike.
"""

import signal
import time
from collections.abc import Callable
from random import Random

from stage import Stage
from web import MAX_DELAY_S

JUMPS_S = (3.0, 45.0, 3_600.0, 200_000.0)
Fault = Callable[[Stage, Random], str | None]


def kill(stage: Stage, chance: Random) -> str:
    stage.end(signal.SIGKILL)
    return ""


def kill_at_rotation(stage: Stage, chance: Random) -> str | None:
    """Just when the next WARC file has begun."""
    files = stage.warc_files()
    if not stage.until(lambda: stage.warc_files() > files, 20):
        return None
    time.sleep(chance.choice((0.0, 0.002, 0.01)))
    stage.end(signal.SIGKILL)
    return f"file {files + 1}"


def kill_at_start(stage: Stage, chance: Random) -> str:
    """While it loads what the last run left."""
    stage.end(signal.SIGKILL)
    stage.start()
    after_s = chance.uniform(0.1, 1.5)
    stage.until(lambda: False, after_s)
    stage.end(signal.SIGKILL)
    return f"{after_s:.1f} s"


def terminate(stage: Stage, chance: Random) -> str | None:
    return stage.stop(signal.SIGTERM)


def interrupt(stage: Stage, chance: Random) -> str | None:
    return stage.stop(signal.SIGINT)


def hang_up(stage: Stage, chance: Random) -> str | None:
    return stage.stop(signal.SIGHUP)


def pause(stage: Stage, chance: Random) -> str:
    """The process stands still; all connections wait."""
    return _suspended(stage, chance.uniform(0.3, 3.0), 0.0)


def suspend(stage: Stage, chance: Random) -> str:
    """A laptop is closed and opened: the process stood still, and the wall clock went on."""
    return _suspended(stage, chance.uniform(0.3, 1.0), chance.choice(JUMPS_S))


def _suspended(stage: Stage, seconds: float, jump_s: float) -> str:
    began = time.monotonic()
    stage.signal(signal.SIGSTOP)
    time.sleep(seconds)
    if jump_s:
        stage.move_clock(jump_s)
    stage.signal(signal.SIGCONT)
    stage.forgive(began, grace_s=0.05)  # what came meanwhile may be given up as too late
    return f"{seconds:.1f} s" + (f", clock +{jump_s:g} s" if jump_s else "")


def refuse(stage: Stage, chance: Random) -> str:
    return _outage(stage, chance, lambda down: stage.server.tell("refuse" if down else "up"))


def hang(stage: Stage, chance: Random) -> str:
    return _outage(stage, chance, lambda down: stage.server.tell("hang" if down else "up"))


def unreachable(stage: Stage, chance: Random) -> str:
    return _outage(stage, chance, lambda down: stage.tell(f"net {'unreachable' if down else 'up'}"))


def dns(stage: Stage, chance: Random) -> str:
    """The name server fails, or says nothing."""
    how = chance.choice(("fail", "hang"))
    return f"{how} " + _outage(stage, chance, lambda down: stage.tell(f"dns {how if down else 'up'}"))


def _outage(stage: Stage, chance: Random, switch: Callable[[bool], None]) -> str:
    seconds = chance.uniform(0.5, 4.0)
    switch(True)
    try:
        stage.until(lambda: False, seconds)
    finally:
        switch(False)
    return f"{seconds:.1f} s"


def killed_offline(stage: Stage, chance: Random) -> str:
    """Killed, and started again while the network or the name server is down."""
    seconds = chance.uniform(2.0, 5.0)
    how = chance.choice(("refuse", "net unreachable", "dns fail", "dns hang"))
    stage.end(signal.SIGKILL)
    if how == "refuse":
        stage.server.tell("refuse")
    stage.start()
    try:
        if how != "refuse":
            stage.tell(how)
        stage.until(lambda: False, seconds)
    finally:
        stage.server.tell("up")
        stage.tell(f"{how.split()[0]} up")
    return f"{how}, {seconds:.1f} s"


def clock(stage: Stage, chance: Random) -> str:
    """The wall clock jumps while the crawl runs."""
    jump_s = chance.choice(JUMPS_S) * chance.choice((-1, 1))
    stage.move_clock(jump_s)
    return f"{jump_s:+g} s"


def clock_between(stage: Stage, chance: Random) -> str:
    """The wall clock is another one after a restart. Forward it looks like time that passed: then one delay is kept."""
    jump_s = chance.choice(JUMPS_S) * chance.choice((-1, 1))
    began = time.monotonic()
    stage.end(signal.SIGKILL)
    if jump_s > 0:
        stage.forgive(began, grace_s=MAX_DELAY_S)
    stage.clock_s += jump_s
    return f"{jump_s:+g} s"


def descriptors(stage: Stage, chance: Random) -> str:
    """Others of our user have taken them: none are left for a while."""
    seconds, room = chance.uniform(0.5, 4.0), chance.randint(0, 3)
    began = time.monotonic()
    stage.tell(f"files {room}")
    stage.until(lambda: False, seconds)
    stage.tell("files up")
    if not stage.crawler:
        stage.forgive(began)
    return f"room for {room}, {seconds:.1f} s"


def few_descriptors(stage: Stage, chance: Random) -> str:
    """The next run has to live with few."""
    stage.end(signal.SIGKILL)
    files = chance.randint(30, 60)
    stage.start(files=files)
    return f"{files}"


def disk(stage: Stage, chance: Random) -> str:
    """No room is left; the crawl ends, and there is room again when it is started the next time."""
    room, began = chance.randint(0, 200_000), time.monotonic()
    stage.fill_disk(room)
    try:
        stage.until(lambda: False, 5)
    finally:
        stage.free_disk()
    stage.forgive(began)
    return f"room for {room // 1000} kB"


def wild(stage: Stage, chance: Random) -> str:
    """Some hosts answer rubbish for a while."""
    seconds = chance.uniform(1.0, 4.0)
    stage.went_wild = True
    stage.server.tell("wild")
    try:
        stage.until(lambda: False, seconds)
    finally:
        stage.server.tell("tame")
    return f"{seconds:.1f} s"


FAULTS: dict[str, Fault] = {
    "kill": kill,
    "kill-at-rotation": kill_at_rotation,
    "kill-at-start": kill_at_start,
    "term": terminate,
    "int": interrupt,
    "hup": hang_up,
    "pause": pause,
    "suspend": suspend,
    "refuse": refuse,
    "hang": hang,
    "unreachable": unreachable,
    "dns": dns,
    "killed-offline": killed_offline,
    "clock": clock,
    "clock-between": clock_between,
    "descriptors": descriptors,
    "few-descriptors": few_descriptors,
    "disk": disk,
    "wild": wild,
}
