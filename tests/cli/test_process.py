"""The command line prepares its own process; a library call never does."""

import subprocess
import sys

CODE = """
import gc, resource, sys
from lycosa import process
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
process.prepare_process()
print(gc.get_threshold()[0], gc.get_freeze_count() > 0, resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 64)
"""


def test_more_files_and_less_garbage_collection() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["100000", "True", "True"]
