"""Reuse the memory of one page for the next: returning it to the system costs a quarter of the parser's time."""

import ctypes
import sys
from functools import cache

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # constants of glibc's <malloc.h>
_KEPT_BYTES = 64 << 20  # free memory at the end of the heap beyond this is still returned
_OWN_MAPPING_BYTES = 4 << 20  # larger blocks are separate mappings, so that one huge page cannot fragment the heap


@cache
def keep_memory() -> bool:
    """Configure glibc, once per process; does nothing with other C libraries. Returns whether it was configured."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    told = [mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES), mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING_BYTES)]
    return all(told)
