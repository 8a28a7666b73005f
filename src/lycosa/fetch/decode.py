"""Undo a content encoding, with an end to it: what grows past the limit is refused, not unpacked."""

from collections.abc import Callable
from typing import cast

import brotli
import zstandard
from isal import isal_zlib

_MOST_MEMBERS = 64  # each copies what follows it: a body of millions of empty ones would take minutes
ACCEPTED = "gzip, deflate, br, zstd"
_ISAL_ERROR = cast(type[Exception], isal_zlib.error)
_DAMAGED: tuple[type[Exception], ...] = (_ISAL_ERROR, brotli.error, zstandard.ZstdError, EOFError)


class TooLarge(Exception):
    """More bytes than the limit allows; `start` is what fits."""

    def __init__(self, start: bytes) -> None:
        super().__init__("too large")
        self.start = start


def decode(payload: bytes, encoding: str, limit: int) -> bytes:
    """The body behind a Content-Encoding header; ValueError if it is damaged, TooLarge past `limit` bytes."""
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        if name in ("", "identity"):
            continue
        if name not in _DECODERS:
            raise ValueError(f"unknown content encoding {name[:40]!r}")
        try:
            payload = _DECODERS[name](payload, limit)
        except _DAMAGED as error:
            raise ValueError(f"damaged {name} body: {error}") from None
    return payload


def _gzip(payload: bytes, limit: int) -> bytes:
    """One or more gzip members, what follows the last one ignored as browsers do."""
    parts: list[bytes] = []
    while payload[:2] == b"\x1f\x8b" or not parts:
        unpacker = isal_zlib.decompressobj(wbits=31)
        parts.append(_unpack(unpacker.decompress, payload, limit))
        limit -= len(parts[-1])
        payload = unpacker.unused_data
        if len(parts) > _MOST_MEMBERS:
            raise ValueError("too many gzip members")
    return b"".join(parts)


def _deflate(payload: bytes, limit: int) -> bytes:
    """With the zlib header the standard asks for, or without it as some servers send."""
    try:
        return _unpack(isal_zlib.decompressobj().decompress, payload, limit)
    except _ISAL_ERROR:
        return _unpack(isal_zlib.decompressobj(wbits=-15).decompress, payload, limit)


def _unpack(decompress: Callable[[bytes, int], bytes], payload: bytes, limit: int) -> bytes:
    body = decompress(payload, limit + 1)
    if len(body) > limit:
        raise TooLarge(body[:limit])
    return body


def _brotli(payload: bytes, limit: int) -> bytes:
    unpacker = brotli.Decompressor()
    parts = [unpacker.process(payload, output_buffer_limit=limit + 1)]
    size = len(parts[0])
    while size <= limit and not unpacker.is_finished() and not unpacker.can_accept_more_data():
        parts.append(unpacker.process(b"", output_buffer_limit=limit + 1 - size))
        size += len(parts[-1])
    if size > limit:
        raise TooLarge(b"".join(parts)[:limit])
    return b"".join(parts)


def _zstd(payload: bytes, limit: int) -> bytes:
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 23).stream_reader(payload, read_across_frames=True)
    body = reader.read(limit + 1)
    if len(body) > limit:
        raise TooLarge(body[:limit])
    return bytes(body)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
