"""`lycosa`, and `python -m lycosa`: the command line."""

import atexit
import contextlib
import ctypes
import gc
import os
import sys

_LEAST_BYTES = 512 << 20  # of address space; measured: below 300 MB some commands crash or hang
_NO_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")
_M_ARENA_MAX = -8  # a constant of glibc's <malloc.h>


def main() -> None:
    """Imports take a moment; Ctrl-C or lack of memory during that time must not print a traceback."""
    try:
        _spare_memory()
        if sys.argv[1:2] == ["crawl"]:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a crawl uses one core, and idle threads cost CPU
        gc.disable()  # imports make many objects, of which hardly any is garbage
        from lycosa.cli import main as command_line

        gc.enable()
        command_line()
    except KeyboardInterrupt:
        sys.exit(130)
    except SystemExit as stop:
        if sys.argv[1:2] == ["crawl"] and isinstance(stop.code, int | None):
            leave(stop.code or 0)
        raise
    except (MemoryError, SystemError, ImportError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        why = f": {error}" if isinstance(error, _TooLittle) else ""
        print(f"lycosa: not enough memory{why}", file=sys.stderr)
        sys.exit(2)


class _TooLittle(MemoryError):
    """So little that it is certain from the start."""


def _spare_memory() -> None:
    """Where memory is limited, threads must not reserve address space that they hardly use: numpy must not start any,
    and all others share one heap, here and in the processes of the parser. If there is none left, libraries crash or
    hang, so with very little it is better not to begin."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    if limit < _LEAST_BYTES:
        raise _TooLittle(f"the limit is {limit >> 20} MB (ulimit -v), and {_LEAST_BYTES >> 20} MB are needed to start")


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
