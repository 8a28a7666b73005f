"""What the command line does to its process, and a library must not do to somebody else's."""

import contextlib
import gc
import resource


def prepare_process() -> None:
    """Room for many connections, and garbage collection rarely: what a page leaves behind is not a cycle."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))
    gc.set_threshold(100_000, 20, 100)
    gc.freeze()  # what was loaded stays
