"""Many crawls at once: each job is plain data, done by a process of its own. Stopped means stopped: nobody lingers."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

from lycosa.types import BadInput

J = TypeVar("J")
Outcome = dict[str, Any]  # plain data
Work = Callable[[J], Outcome]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_INTERRUPT = {signal.SIGINT}


def do_all(work: Work[J], jobs: Sequence[J], processes: int, watch: Callable[[], None]) -> list[Outcome]:
    """What came of each job, in the order of the jobs, however many work at once; `watch` hears of each that is done.

    `work` must be a function of a module: other processes find it by its name.
    """
    found: dict[int, Outcome] = {}
    if processes <= 1 or len(jobs) <= 1:
        for number, job in enumerate(jobs):
            found[number] = work(job)
            watch()
    else:
        with _workers(work, min(processes, len(jobs))) as pipes:
            for number, outcome in _handed_out(jobs, pipes):
                found[number] = outcome
                watch()
    return [found[number] for number in range(len(jobs))]


def _handed_out(jobs: Sequence[J], pipes: Sequence[Connection]) -> Iterator[tuple[int, Outcome]]:
    """Number and outcome of each job, as they are done: whoever is free gets the next."""
    left = iter(enumerate(jobs))
    at_work: dict[Any, int] = {}

    def give(pipe: Connection) -> None:
        for number, job in left:
            pipe.send(job)
            at_work[pipe] = number
            return

    for pipe in pipes:
        give(pipe)
    while at_work:
        for ready in wait(list(at_work)):
            pipe = cast(Connection, ready)
            yield at_work.pop(pipe), _answer(pipe)
            give(pipe)


def _answer(pipe: Connection) -> Outcome:
    try:
        outcome = pipe.recv()
    except EOFError:
        raise RuntimeError("a process was gone before its work was done: is memory short?") from None
    if isinstance(outcome, Exception):
        raise outcome
    found: Outcome = outcome
    return found


@contextmanager
def _workers(work: Work[Any], count: int) -> Iterator[list[Connection]]:
    """Pipes to processes that are gone when we leave, whatever they are at."""
    context = get_context("spawn")  # not forked: a copy of a process with threads may hang
    pipes, processes = [], []
    try:
        with _one_thread_each(), _interrupts_held_back():  # what is started now inherits both
            for _ in range(count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(work, theirs), daemon=True)
                process.start()
                theirs.close()  # so that we hear when the process is gone
                pipes.append(ours)
                processes.append(process)
        yield pipes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _serve(work: Work[Any], pipe: Connection) -> None:
    """Do what comes through the pipe until there is no more."""
    with suppress(EOFError, BrokenPipeError):  # who gave us work is gone
        while True:
            job = pipe.recv()
            try:
                outcome: Outcome | Exception = work(job)
            except BadInput as error:
                outcome = error
            except Exception:  # told where it can be seen: this process has no screen
                outcome = RuntimeError(traceback.format_exc())
            pipe.send(outcome)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """As many processes as cores are enough: their libraries shall not start threads of their own beside them."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until all processes are known, so that they can be ended; in them it stays blocked for good.

    Blocking alone is not enough: the signal may come to another thread, and still is an exception of the main one.
    """
    resource_tracker.ensure_running()  # it lets interrupts through when it starts, so it must not start later
    if threading.current_thread() is not threading.main_thread():
        yield  # nobody interrupts here
        return
    came: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
        signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt
