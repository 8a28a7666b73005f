"""A priority is a band and a score. Encoded as one integer, a rank, it is cheap to compare and to store."""

import struct

from lycosa.types import Band

LOWEST = 0  # below every rank
NEVER = 4 << 64  # above every rank
_SCORE_BITS = 64
_SIGN, _ONES = 1 << 63, (1 << 64) - 1
_as_float, _as_bits = struct.Struct("<d"), struct.Struct("<Q")


def rank_of(score: float, band: int = Band.FOUND) -> int:
    """Increases with the band, and within a band with the score."""
    bits: int = _as_bits.unpack(_as_float.pack(score or 0.0))[0]  # zero and minus zero must have the same rank
    return band << _SCORE_BITS | bits ^ (_ONES if bits & _SIGN else _SIGN)


def score_of(rank: int) -> float:
    ordered = rank & _ONES
    score: float = _as_float.unpack(_as_bits.pack(ordered ^ (_SIGN if ordered & _SIGN else _ONES)))[0]
    return score


def band_of(rank: int) -> int:
    return rank >> _SCORE_BITS
