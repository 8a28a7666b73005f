"""`lycosa`, and `python -m lycosa`: the command line."""

import atexit
import contextlib
import os
import sys


def main() -> None:
    """Loading takes a moment, and whoever presses Ctrl-C in it wants no traceback."""
    try:
        from lycosa.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)
    except SystemExit as stop:
        if sys.argv[1:2] == ["crawl"] and isinstance(stop.code, int | None):
            leave(stop.code or 0)
        raise


def leave(code: int) -> None:
    """End at once. Python would take the memory of a large crawl apart, object by object, which takes seconds."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
