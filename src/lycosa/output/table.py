"""One row for each page asked: as JSON lines, CSV or Parquet, a million of them in the memory of a few thousand."""

import csv
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, get_type_hints

from msgspec.json import Encoder

from lycosa.types import BadInput

FORMATS = ("jsonl", "csv", "parquet")
_BATCH_ROWS = 20_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet would run such a cell


class Row(NamedTuple):
    """What a table says of one page; None where there is nothing to say."""

    n: int
    url: str
    final_url: str = ""
    status: int | None = None
    error: str = ""
    fetched_at: float | None = None  # seconds since the epoch; written as a date
    seconds: float | None = None
    bytes: int | None = None
    content_type: str = ""
    digest: str = ""
    depth: int | None = None
    source: str = ""
    anchor: str = ""
    score: float | None = None
    relevance: float | None = None
    on_topic: bool | None = None
    label: str = ""
    title: str = ""


COLUMNS = Row._fields
_HINTS = get_type_hints(Row)
_TEXT = tuple(index for index, name in enumerate(COLUMNS) if _HINTS[name] is str)
_REAL = tuple(index for index, name in enumerate(COLUMNS) if _HINTS[name] == float | None and name != "fetched_at")
_DATE = COLUMNS.index("fetched_at")
_BOOL = COLUMNS.index("on_topic")


def write_table(rows: Iterable[Row], format: str, out: Path | None) -> int:
    """Write all rows and say how many; `out` is a file, or None or "-" for standard output.

    A file appears only when it is complete: if anything fails before, an older one of that name stays.
    """
    if format not in FORMATS:
        raise BadInput(f"unknown table format {format!r}: use {', '.join(FORMATS)}")
    write = {"jsonl": _write_jsonl, "csv": _write_csv, "parquet": _write_parquet}[format]
    if out is None or str(out) == "-":
        if format == "parquet":
            raise BadInput("parquet cannot be written to standard output: name a file")
        count = write(rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return count
    with _replacing(out.resolve()) as file:
        return write(rows, file)


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name at the end; what is no file (a pipe, a device) is written to as it is."""
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"{path}: " + ("is a folder, not a file" if path.is_dir() else "no such folder to write it in"))
    part = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        if part != path:
            os.replace(part, path)
    except BaseException:
        if part != path:
            part.unlink(missing_ok=True)
        raise


def _write_jsonl(rows: Iterable[Row], file: BinaryIO) -> int:
    encode, count = Encoder().encode, 0
    for cells in _cells(rows):
        cells[_DATE] = _iso(cells[_DATE])
        file.write(encode(dict(zip(COLUMNS, cells, strict=True))) + b"\n")
        count += 1
    return count


def _write_csv(rows: Iterable[Row], file: BinaryIO) -> int:
    text, count = TextIOWrapper(file, encoding="utf-8", newline=""), 0
    try:
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for cells in _cells(rows):
            for index in _TEXT:
                if cells[index].startswith(_FORMULA):
                    cells[index] = "'" + cells[index]
            cells[_DATE] = _iso(cells[_DATE])
            cells[_BOOL] = {True: "true", False: "false"}.get(cells[_BOOL])
            writer.writerow(cells)
            count += 1
    finally:
        text.detach()  # or the wrapper would close the file under us
    return count


def _write_parquet(rows: Iterable[Row], file: BinaryIO) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise BadInput("writing parquet needs pyarrow: pip install 'lycosa[tables]'") from error
    kinds = {
        str: pa.string(),
        int: pa.int64(),
        int | None: pa.int64(),
        float | None: pa.float64(),
        bool | None: pa.bool_(),
    }
    fields = [(name, kinds[_HINTS[name]]) for name in COLUMNS]
    fields[_DATE] = ("fetched_at", pa.timestamp("us", tz="UTC"))
    schema, count = pa.schema(fields), 0
    cells = _cells(rows)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(cells, _BATCH_ROWS)):
            columns = [list(column) for column in zip(*batch, strict=True)]
            columns[_DATE] = [_moment(at) for at in columns[_DATE]]
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            count += len(batch)
    return count


def _cells(rows: Iterable[Row]) -> Iterator[list[Any]]:
    """Cells that every format can hold: text that is Unicode, numbers that are numbers."""
    for row in rows:
        cells: list[Any] = list(row)
        for index in _TEXT:
            if not cells[index].isascii():
                cells[index] = cells[index].encode(errors="replace").decode()  # half a surrogate pair fits no file
        for index in _REAL:
            if cells[index] is not None and not math.isfinite(cells[index]):
                cells[index] = None
        yield cells


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


def _iso(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
