"""Have we seen this page before? A digest for the very same bytes, a simhash for nearly the same words.

A simhash is 64 bits of which near duplicates share nearly all (Charikar, 2002). The voters are the eight bytes that
begin with each word, a fixed half of them. All in numpy, without a look at single words: a table from words to bits
costs a third more, and memory.
"""

import hashlib
from collections.abc import Iterable

import numpy as np

_BYTES = 8
_A, _B, _C = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_FEW = 64  # on a page with fewer words all vote: of a handful none might be in the half
_ROW = 16 * 64  # votes that are added at once: long rows are faster


def content_digest(body: bytes) -> str:
    """128 bits in hex that stand for a body. With a hash that is only fast, anybody could make a page that shares the
    digest of another and so passes for its first copy."""
    return hashlib.sha256(body).hexdigest()[:32]


def simhash(words: Iterable[str]) -> int:
    """The majority of the voters' bits; 0 for no words."""
    joined = " ".join(words)
    if not joined:
        return 0
    data = f" {joined}{' ' * _BYTES}".encode("utf-8", "replace")
    before = np.flatnonzero(np.frombuffer(data, np.uint8, len(data) - _BYTES) == ord(" "))
    eight = np.ndarray((len(data) - _BYTES + 1,), "<u8", data, strides=(1,))  # the eight bytes from every byte on
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
    """In how many of the 64 bits two pages differ: near duplicates in few, unrelated pages in nearly half of them."""
    return (one ^ other).bit_count()
