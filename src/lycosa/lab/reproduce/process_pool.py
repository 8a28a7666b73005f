"""Run many crawls in parallel: each job is plain data, run in a separate process. When stopped, no process lingers."""

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
    """The outcomes in the order of the jobs, with any number of processes; `watch` is called for each finished job.

    `work` must be a module-level function: other processes find it by name.
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
    """Number and outcome of each job, as they finish; the next free process gets the next job."""
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
        raise RuntimeError("a process died before it finished: out of memory?") from None
    if isinstance(outcome, Exception):
        raise outcome
    found: Outcome = outcome
    return found


@contextmanager
def _workers(work: Work[Any], count: int) -> Iterator[list[Connection]]:
    """Pipes to processes that are ended when the context ends, whatever they are doing."""
    context = get_context("spawn")  # not forked, because a forked copy of a process with threads may hang
    pipes, processes = [], []
    try:
        with _one_thread_each(), _interrupts_held_back():  # processes started now inherit both
            for _ in range(count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(work, theirs), daemon=True)
                process.start()
                theirs.close()  # so that we notice when the process dies
                pipes.append(ours)
                processes.append(process)
        yield pipes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _serve(work: Work[Any], pipe: Connection) -> None:
    """Run the jobs that come through the pipe until there are no more."""
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        while True:
            job = pipe.recv()
            try:
                outcome: Outcome | Exception = work(job)
            except BadInput as error:
                outcome = error
            except Exception:  # report it to the parent, which can print it
                outcome = RuntimeError(traceback.format_exc())
            pipe.send(outcome)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Keep libraries from starting threads: there are already as many processes as cores."""
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
    """Delay Ctrl-C until all processes are known, so that they can be ended; in them it stays blocked.

    Blocking alone is not enough: another thread may receive the signal, and it still raises in the main thread.
    """
    resource_tracker.ensure_running()  # it unblocks interrupts when it starts, so it must not start later
    if threading.current_thread() is not threading.main_thread():
        yield  # no interrupts here
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
