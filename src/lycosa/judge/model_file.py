"""A trained judge as a file: plain numbers and words, validated before use, so that an untrusted model runs no code.

    magic (8) | format (u32) | header length (u64) | header, JSON | arrays, raw | xxh3 of all before (8)

Integers and arrays are little-endian. Every array has an entry in the header: its name, type and shape.
"""

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.files import write_whole
from lycosa.types import BadInput

NAME = "topic.model"
FORMAT = 1
Facts = TypeVar("Facts", bound=msgspec.Struct)
Type = Literal["<f4", "<f8", "<i4"]
Arrays = dict[str, NDArray[Any]]

_MAGIC = b"\x89LYCOSA\n"  # no text file starts like this, and line-ending conversion is detected
_START = struct.Struct("<8sIQ")
_CHECK = struct.Struct("<Q")


class _Shape(msgspec.Struct, frozen=True):
    name: str
    type: Type
    shape: list[int]

    def size_bytes(self) -> int:
        return prod(self.shape) * int(self.type[-1])


class _Header(msgspec.Struct, frozen=True):
    kind: str
    facts: msgspec.Raw
    arrays: list[_Shape]


def save(path: Path, kind: str, facts: msgspec.Struct, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the file atomically: a reader never sees half a model."""
    plain = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    shapes = [_Shape(name, cast(Type, array.dtype.str), list(array.shape)) for name, array in plain.items()]
    if odd := {item.type for item in shapes} - set(get_args(Type)):
        raise TypeError(f"not plain numbers: {odd}")
    header = msgspec.json.encode(_Header(kind, msgspec.Raw(msgspec.json.encode(facts)), shapes))
    parts = [_START.pack(_MAGIC, FORMAT, len(header)), header, *(array.tobytes() for array in plain.values())]
    check = xxhash.xxh3_64()
    for part in parts:
        check.update(part)
    write_whole(path, b"".join([*parts, _CHECK.pack(check.intdigest())]))


def load(path: Path, kind: str, facts: type[Facts]) -> tuple[Facts, Arrays]:
    """Load a saved model, or raise an error that says in one line why the file is rejected."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    header, start = _header(path, data)
    if header.kind != kind:
        raise BadInput(f"{path}: holds a model of kind {header.kind!r}, not {kind!r}; `lycosa topic train` replaces it")
    try:
        found = msgspec.json.decode(header.facts, type=facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: damaged: {error}") from None
    return found, _arrays(path, data, header.arrays, start)


def _header(path: Path, data: bytes) -> tuple[_Header, int]:
    if len(data) < _START.size + _CHECK.size or not data.startswith(_MAGIC):
        raise BadInput(f"{path}: not a model file of Lycosa, or cut short")
    _, version, size = _START.unpack_from(data)
    if version > FORMAT:
        raise BadInput(f"{path}: written by a newer Lycosa (format {version}; this one reads up to {FORMAT})")
    check = xxhash.xxh3_64_intdigest(memoryview(data)[: -_CHECK.size])
    if version < 1 or check != _CHECK.unpack_from(data, len(data) - _CHECK.size)[0]:
        raise BadInput(
            f"{path}: damaged or cut short (its checksum does not match); `lycosa topic train` makes it again"
        )
    start = _START.size + size
    try:
        return msgspec.json.decode(memoryview(data)[_START.size : start], type=_Header), start
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: damaged: {error}") from None


def _arrays(path: Path, data: bytes, shapes: list[_Shape], start: int) -> Arrays:
    """Read the arrays. The checksum proves only that the bytes are intact, not that their author is trustworthy."""
    if any(min(item.shape, default=0) < 0 for item in shapes):
        raise BadInput(f"{path}: damaged: an array of negative size")
    if start + sum(item.size_bytes() for item in shapes) != len(data) - _CHECK.size:
        raise BadInput(f"{path}: damaged: the arrays do not fill the file")
    arrays: Arrays = {}
    for item in shapes:
        flat = np.frombuffer(data, item.type, prod(item.shape), start)
        start += item.size_bytes()
        if not np.isfinite(flat).all():
            raise BadInput(f"{path}: damaged: {item.name} holds something that is not a number")
        arrays[item.name] = flat.reshape(item.shape).astype(item.type[1:], copy=False)
    return arrays
