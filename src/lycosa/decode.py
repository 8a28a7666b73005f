"""Undo a content encoding within a limit: a body that would grow beyond it is refused, not unpacked.

Every encoding marks its end. A body that stops before that mark was truncated, even if its length matches.
"""

from collections.abc import Callable
from typing import Any, cast

import brotli
import zstandard
from isal import isal_zlib

_MOST_MEMBERS = 64  # each copies what follows it, so a body of millions of empty ones would take minutes
_MOST_ENCODINGS = 4  # one inside another: a header has room for hundreds, each of which costs a copy of the body
_ZSTD_SLICE = 512  # bytes; four bytes may unpack to 128 kB, so a slice never unpacks to more than 16 MB
ACCEPTED = "gzip, deflate, br, zstd"
_ISAL_ERROR = cast(type[Exception], isal_zlib.error)
_DAMAGED: tuple[type[Exception], ...] = (_ISAL_ERROR, brotli.error, zstandard.ZstdError, EOFError)


class Partial(Exception):
    """Only the start of a body is available; `start` is that part, empty if it is still encoded."""

    def __init__(self, why: str, start: bytes) -> None:
        super().__init__(why)
        self.start = start


class TooLarge(Partial):
    """More bytes than the limit allows."""

    def __init__(self, start: bytes) -> None:
        super().__init__("too large", start)


class Incomplete(Partial):
    """The body ends before its encoding does."""

    def __init__(self, start: bytes) -> None:
        super().__init__("truncated", start)


def decode(payload: bytes, encoding: str, limit: int) -> bytes:
    """The decoded body; ValueError if it is damaged, TooLarge beyond `limit` bytes, Incomplete if it was truncated."""
    names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if len(names) > _MOST_ENCODINGS:
        raise ValueError("too many content encodings")
    while names and payload:
        name = names.pop()
        if name not in DECODERS:
            raise ValueError(f"unknown content encoding {name[:40]!r}")
        try:
            payload = DECODERS[name](payload, limit)
        except Partial as error:
            if names:
                error.start = b""
            raise
        except _DAMAGED as error:
            raise ValueError(f"damaged {name} body: {error}") from None
    return payload


def _gzip(payload: bytes, limit: int) -> bytes:
    """One or more gzip members; what follows the last one is ignored, as in browsers."""
    parts: list[bytes] = []
    while payload[:2] == b"\x1f\x8b" or not parts:
        unpacker = isal_zlib.decompressobj(wbits=31)
        parts.append(unpacker.decompress(payload, limit + 1))
        limit -= len(parts[-1])
        if limit < 0:
            raise TooLarge(b"".join(parts)[:limit])
        if not unpacker.eof:
            raise Incomplete(b"".join(parts))
        payload = unpacker.unused_data
        if len(parts) > _MOST_MEMBERS:
            raise ValueError("too many gzip members")
    return b"".join(parts)


def _deflate(payload: bytes, limit: int) -> bytes:
    """With the zlib header that the standard requires, or without it, as some servers send it."""
    try:
        return _inflate(isal_zlib.decompressobj(), payload, limit)
    except _ISAL_ERROR:
        return _inflate(isal_zlib.decompressobj(wbits=-15), payload, limit)


def _inflate(unpacker: Any, payload: bytes, limit: int) -> bytes:
    body: bytes = unpacker.decompress(payload, limit + 1)
    if len(body) > limit:
        raise TooLarge(body[:limit])
    if not unpacker.eof:
        raise Incomplete(body)
    return body


def _brotli(payload: bytes, limit: int) -> bytes:
    unpacker = brotli.Decompressor()
    parts = [unpacker.process(payload, output_buffer_limit=limit + 1)]
    size = len(parts[0])
    while size <= limit and not unpacker.is_finished() and not unpacker.can_accept_more_data():
        parts.append(unpacker.process(b"", output_buffer_limit=limit + 1 - size))
        size += len(parts[-1])
    body = b"".join(parts)
    if size > limit:
        raise TooLarge(body[:limit])
    if not unpacker.is_finished():
        raise Incomplete(body)
    return body


def _zstd(payload: bytes, limit: int) -> bytes:
    """One or more frames, in slices: functions that unpack at once have no limit, or do not notice truncation."""
    maker = zstandard.ZstdDecompressor(max_window_size=1 << 23)
    unpacker, frames, parts, size = maker.decompressobj(), 1, [], 0
    for start in range(0, len(payload), _ZSTD_SLICE):
        piece = payload[start : start + _ZSTD_SLICE]
        while piece:
            if unpacker.eof:
                unpacker, frames = maker.decompressobj(), frames + 1
                if frames > _MOST_MEMBERS:
                    raise ValueError("too many zstd frames")
            parts.append(unpacker.decompress(piece))
            size += len(parts[-1])
            if size > limit:
                raise TooLarge(b"".join(parts)[:limit])
            piece = unpacker.unused_data
    if not unpacker.eof:
        raise Incomplete(b"".join(parts))
    return b"".join(parts)


DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
