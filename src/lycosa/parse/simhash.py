"""Have we seen this page before? A digest for identical bytes, a simhash for nearly the same words.

A simhash has 64 bits, of which near duplicates share nearly all (Charikar, 2002). The voters are the eight bytes
starting at each word, of which a fixed half counts. All in numpy, without looking at single words: a table from words
to bits takes a third more time, and memory.
"""

import secrets
from collections.abc import Iterable

import numpy as np
import xxhash

_BYTES = 8
_A, _B, _C = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_FEW = 64  # on a page with fewer words all vote, because possibly none of a handful is in the half that counts
_SECRET = secrets.randbits(64)
_ROW = 16 * 64  # votes added at a time: long rows are faster


def content_digest(body: bytes, secret: int = _SECRET) -> str:
    """128 bits in hex that stand for a body. Whoever knows the secret can make two bodies that share them; without one,
    digests can only be compared within this process."""
    return xxhash.xxh3_128_hexdigest(body, seed=secret)


def simhash(words: Iterable[str]) -> int:
    """The majority of the voters' bits; 0 for no words."""
    joined = " ".join(words)
    if not joined:
        return 0
    data = f" {joined}{' ' * _BYTES}".encode("utf-8", "replace")
    before = np.flatnonzero(np.frombuffer(data, np.uint8, len(data) - _BYTES) == ord(" "))
    eight = np.ndarray((len(data) - _BYTES + 1,), "<u8", data, strides=(1,))  # the eight bytes starting at every byte
    voters = eight.take(before + 1) * _A
    voters ^= voters >> _SHIFT
    voters *= _B
    voters ^= voters >> _SHIFT
    if len(voters) >= _FEW:
        voters = voters[(voters & _ONE) == 0]
    voters *= _C
    votes = np.unpackbits(voters.astype("<u8", copy=False).view(np.uint8))
    whole = len(votes) // _ROW * _ROW
    yes = votes[:whole].reshape(-1, _ROW).sum(axis=0, dtype=np.uint16).reshape(-1, 64).sum(axis=0, dtype=np.uint32)
    yes += votes[whole:].reshape(-1, 64).sum(axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(yes * 2 > len(voters)).tobytes(), "little")


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits two pages differ: few for near duplicates, nearly half for unrelated pages."""
    return (one ^ other).bit_count()
