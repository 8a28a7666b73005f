"""Write rows as JSON lines, CSV or Parquet, with constant memory."""

import csv
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from msgspec.json import Encoder

from lycosa.files import unwritable
from lycosa.output.files import replacing
from lycosa.types import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("jsonl", "csv", "parquet")
# text; integers and floats; booleans; seconds since the epoch, written as a date; mappings of names to numbers
Kind = Literal["text", "whole", "real", "yes", "date", "shares"]
Columns = Mapping[str, Kind]
Row = Sequence[Any]  # one cell per column; None if there is no value
_BATCH_ROWS = 20_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet would run such a cell as a formula


def write_table(rows: Iterable[Row], columns: Columns, format: str, out: Path | None) -> int:
    """Write all rows and return their number; `out` is a file, or None or "-" for standard output.

    A file appears only when it is complete: if anything fails, an existing file of that name is left as it was.
    """
    if format not in FORMATS:
        raise BadInput(f"unknown table format {format!r}: use {', '.join(FORMATS)}")
    write = {"jsonl": _write_jsonl, "csv": _write_csv, "parquet": _write_parquet}[format]
    if out is not None and str(out) != "-":
        with replacing(out) as file:
            return write(_cells(rows, columns), columns, file)
    if format == "parquet":
        raise BadInput("parquet cannot be written to standard output: name a file")
    try:
        count = write(_cells(rows, columns), columns, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try to flush once more at exit
        raise unwritable("standard output", error) from None
    return count


def _write_jsonl(rows: Iterable[list[Any]], columns: Columns, file: BinaryIO) -> int:
    encode, count = Encoder().encode, 0
    dates = _places(columns, "date")
    for cells in rows:
        for index in dates:
            cells[index] = _iso(cells[index])
        file.write(encode(dict(zip(columns, cells, strict=True))) + b"\n")
        count += 1
    return count


def _write_csv(rows: Iterable[list[Any]], columns: Columns, file: BinaryIO) -> int:
    text, count = TextIOWrapper(file, encoding="utf-8", newline=""), 0
    show: dict[Kind, Callable[[Any], str | None]] = {
        "text": _inert,
        "date": _iso,
        "yes": {True: "true", False: "false"}.get,
        "shares": _as_json,
    }
    shown = [(index, show[kind]) for index, kind in enumerate(columns.values()) if kind in show]
    try:
        writer = csv.writer(text)
        writer.writerow(columns)
        for cells in rows:
            for index, to_text in shown:
                cells[index] = to_text(cells[index])
            writer.writerow(cells)
            count += 1
    finally:
        text.detach()  # or the wrapper would close the file under us
    return count


def _write_parquet(rows: Iterator[list[Any]], columns: Columns, file: BinaryIO) -> int:
    schema, batches = _arrow(rows, columns, "writing parquet")
    import pyarrow.parquet as pq

    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def arrow_table(rows: Iterable[Row], columns: Columns) -> "pa.Table":
    """All rows in memory, for programs."""
    schema, batches = _arrow(_cells(rows, columns), columns, "a table")
    import pyarrow as pa

    return pa.Table.from_batches(batches, schema)


def _arrow(rows: Iterator[list[Any]], columns: Columns, what: str) -> "tuple[pa.Schema, Iterator[pa.RecordBatch]]":
    """The schema, and the rows in batches."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise BadInput(f"{what} needs pyarrow: pip install 'lycosa[tables]'") from error
    kinds = {
        "text": pa.string(),
        "whole": pa.int64(),
        "real": pa.float64(),
        "yes": pa.bool_(),
        "date": pa.timestamp("us", tz="UTC"),
        "shares": pa.map_(pa.string(), pa.float64()),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    dates, shares = _places(columns, "date"), _places(columns, "shares")

    def batches() -> "Iterator[pa.RecordBatch]":
        while batch := list(islice(rows, _BATCH_ROWS)):
            table = [list(column) for column in zip(*batch, strict=True)]
            for index in dates:
                table[index] = [_moment(at) for at in table[index]]
            for index in shares:
                table[index] = [list(cell.items()) for cell in table[index]]
            arrays = [pa.array(column, field.type) for column, field in zip(table, schema, strict=True)]
            yield pa.record_batch(arrays, schema=schema)

    return schema, batches()


def _cells(rows: Iterable[Row], columns: Columns) -> Iterator[list[Any]]:
    """Cells that every format can hold: valid Unicode text, finite numbers."""
    texts, reals = _places(columns, "text"), _places(columns, "real")
    for row in rows:
        cells: list[Any] = list(row)
        for index in texts:
            if not cells[index].isascii():
                cells[index] = cells[index].encode(errors="replace").decode()  # half a surrogate pair cannot be encoded
        for index in reals:
            if cells[index] is not None and not math.isfinite(cells[index]):
                cells[index] = None
        yield cells


def _places(columns: Columns, kind: Kind) -> list[int]:
    return [index for index, of_column in enumerate(columns.values()) if of_column == kind]


def _inert(text: str) -> str:
    return "'" + text if text.startswith(_FORMULA) else text


def _as_json(shares: Mapping[str, float]) -> str:
    return Encoder().encode(shares).decode() if shares else ""


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


def _iso(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
