"""Many jobs at once, in order, and gone when they are stopped."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lycosa.lab.recorded import warc_files
from lycosa.lab.reproduce.process_pool import do_all
from lycosa.types import BadInput

INTERRUPTED = """
import sys, time
from lycosa.lab.reproduce.process_pool import do_all

if __name__ == "__main__":
    try:
        do_all(time.sleep, [0, 600, 600, 600], {processes}, lambda: print("one done", flush=True))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_outcomes_come_in_the_order_of_the_jobs(processes: int) -> None:
    heard: list[int] = []
    found = do_all(math.factorial, [5, 3, 0, 6], processes, lambda: heard.append(1))  # type: ignore[arg-type]
    assert found == [120, 6, 1, 720]
    assert len(heard) == 4


def test_one_job_needs_no_other_process() -> None:
    assert do_all(_own, [0], 8, lambda: None) == [{"pid": os.getpid()}]


def _own(_: int) -> dict[str, int]:
    return {"pid": os.getpid()}


def test_no_jobs_no_outcomes() -> None:
    assert do_all(_own, [], 4, lambda: None) == []


def test_an_error_in_a_job_is_ours() -> None:
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        do_all(math.sqrt, [4.0, -1.0, 9.0], 1, lambda: None)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match=r"ValueError: (math domain|.*nonnegative)"):
        do_all(math.sqrt, [4.0, -1.0, 9.0], 2, lambda: None)  # type: ignore[arg-type]


def test_bad_input_stays_bad_input() -> None:
    with pytest.raises(BadInput, match="no such file"):
        do_all(warc_files, [Path("/nowhere/one"), Path("/nowhere/two")], 2, lambda: None)  # type: ignore[arg-type]


def test_a_process_that_dies_is_noticed() -> None:
    with pytest.raises(RuntimeError, match="died before it finished"):
        do_all(os._exit, [3, 3], 2, lambda: None)  # type: ignore[arg-type]


def test_from_another_thread() -> None:
    found: list[object] = []
    thread = threading.Thread(
        target=lambda: found.extend(do_all(math.factorial, [3, 4], 2, lambda: None))  # type: ignore[arg-type]
    )
    thread.start()
    thread.join()
    assert found == [6, 24]


def test_processes_do_not_start_threads_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    assert do_all(os.getenv, names, 2, lambda: None) == ["1", "1"]  # type: ignore[arg-type]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupt_ends_everything_at_once(processes: int, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(processes=processes), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "one done\n"  # the next jobs take ten minutes
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not alive(process.pid)


def alive(group: int) -> list[str]:
    """Processes of a group that still work. Python's own tracker of resources ends a moment after the others, and what
    is about to end has no command any more."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, _, of = stat.read_text().rpartition(")")[2].split()[:3]
            command = (stat.parent / "cmdline").read_bytes()
            found += [stat.parent.name] if int(of) == group and command and b"resource_tracker" not in command else []
    return found
