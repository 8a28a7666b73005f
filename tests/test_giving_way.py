"""The console gives way to crawls, but the crawls it starts do not."""

import os
import subprocess
import sys

import pytest

_STARTED_BY_ONE_THAT_GIVES_WAY = """
import os
from pathlib import Path
from lycosa import remote
from lycosa.process import give_way

give_way()
child = remote.start(Path("/nowhere"), [], os.open(os.devnull, os.O_WRONLY))  # it ends at once, for there is no folder
print(os.sched_getscheduler(0), os.sched_getscheduler(child.pid), flush=True)
child.wait()
"""


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="this system has no such policies")
def test_a_crawl_started_by_the_console_does_not_give_way() -> None:
    done = subprocess.run([sys.executable, "-c", _STARTED_BY_ONE_THAT_GIVES_WAY], capture_output=True, text=True)
    assert done.stdout.splitlines()[0].split() == [str(os.SCHED_BATCH), str(os.SCHED_OTHER)], done.stderr
