"""`lycosa`, and `python -m lycosa`: the command line."""

import atexit
import contextlib
import os
import sys

_NO_MEMORY = ("failed to map segment", "cannot allocate memory")  # from the dynamic loader


def main() -> None:
    """Imports take a moment; Ctrl-C or lack of memory during that time must not print a traceback."""
    try:
        _spare_memory()
        from lycosa.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)
    except SystemExit as stop:
        if sys.argv[1:2] == ["crawl"] and isinstance(stop.code, int | None):
            leave(stop.code or 0)
        raise
    except (MemoryError, SystemError, ImportError) as error:
        if not _is_out_of_memory(error):
            raise
        print("lycosa: not enough memory", file=sys.stderr)
        sys.exit(2)


def _spare_memory() -> None:
    """Where memory is limited, numpy must not start threads: each reserves address space, and if there is none left,
    the library behind it complains at length and ends the process."""
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Whether the error, or one that caused it, is due to lack of memory. Python reports a failed allocation in C as a
    SystemError."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError | SystemError) or any(words in said for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def leave(code: int) -> None:
    """Exit immediately. Python would free the memory of a large crawl object by object, which takes seconds."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader of the output has gone
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
