"""Tables as other programs read them: csv, json and pyarrow."""

import csv
import io
import json
import math
import os
import resource
import signal
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lycosa.output import table
from lycosa.output.table import FORMATS, Columns
from lycosa.types import BadInput

KINDS: Columns = {
    "n": "whole",
    "url": "text",
    "fetched_at": "date",
    "seconds": "real",
    "bytes": "whole",
    "content_type": "text",
    "anchor": "text",
    "score": "real",
    "relevance": "real",
    "on_topic": "yes",
    "label": "text",
    "title": "text",
    "why": "shares",
}
COLUMNS = tuple(KINDS)


class Row(NamedTuple):
    n: int
    url: str
    fetched_at: float | None = None
    seconds: float | None = None
    bytes: int | None = None
    content_type: str = ""
    anchor: str = ""
    score: float | None = None
    relevance: float | None = None
    on_topic: bool | None = None
    label: str = ""
    title: str = ""
    why: dict[str, float] = {}  # noqa: RUF012


def write_table(rows: Any, format: str, out: Path | None) -> int:
    return table.write_table(rows, KINDS, format, out)


FULL = Row(
    n=1,
    url="http://example.org/a",
    fetched_at=1_790_000_000.25,
    seconds=0.5,
    bytes=35_000,
    content_type="text/html; charset=utf-8",
    anchor='say "a, b"\nand c',
    score=0.75,
    relevance=0.5,
    on_topic=True,
    label="course",
    title="Ein schöner Titel, 題",
    why={"sky": 0.5, "=soup": -0.25},
)
EMPTY = Row(2, "http://example.org/b", on_topic=False)
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def number(low: float, high: float) -> st.SearchStrategy[float | None]:
    return st.none() | st.floats(low, high)


ROWS = st.lists(
    st.builds(
        Row,
        n=st.integers(0, 2**62),
        url=ANY_TEXT,
        fetched_at=number(0, 4e9),
        seconds=number(0, 1e9),
        bytes=st.none() | st.integers(0, 2**62),
        content_type=ANY_TEXT,
        anchor=ANY_TEXT | st.sampled_from(["=1+1", "+1", "-1", "@x", "\t=1", "\r", "\n", '"', "'", "a\r\nb", ";", ""]),
        score=number(-1e300, 1e300),
        relevance=number(0, 1),
        on_topic=st.none() | st.booleans(),
        label=ANY_TEXT,
        title=ANY_TEXT,
        why=st.dictionaries(ANY_TEXT, st.floats(-1, 1), max_size=3),
    ),
    max_size=5,
)
FEW = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


class TestJsonl:
    def test_a_full_and_an_empty_row(self, tmp_path: Path) -> None:
        assert write_table([FULL, EMPTY], "jsonl", tmp_path / "t.jsonl") == 2
        full, empty = read_jsonl(tmp_path / "t.jsonl")
        assert tuple(full) == COLUMNS
        assert full == {**FULL._asdict(), "fetched_at": "2026-09-21T14:13:20.250000Z"}
        assert empty == EMPTY._asdict()

    @FEW
    @given(rows=ROWS)
    def test_round_trip(self, tmp_path: Path, rows: list[Row]) -> None:
        write_table(rows, "jsonl", tmp_path / "t.jsonl")
        found = read_jsonl(tmp_path / "t.jsonl")
        for row in found:
            at = row["fetched_at"]
            row["fetched_at"] = at and datetime.fromisoformat(at)
        assert found == [{**row._asdict(), "fetched_at": moment(row.fetched_at)} for row in rows]


class TestCsv:
    def test_a_full_and_an_empty_row(self, tmp_path: Path) -> None:
        assert write_table([FULL, EMPTY], "csv", tmp_path / "t.csv") == 2
        full, empty = read_csv(tmp_path / "t.csv")
        assert tuple(full) == COLUMNS
        assert full["anchor"] == FULL.anchor
        assert full["title"] == FULL.title
        assert full["fetched_at"] == "2026-09-21T14:13:20.250000Z"
        assert (full["on_topic"], empty["on_topic"]) == ("true", "false")
        assert (json.loads(full["why"]), empty["why"]) == (FULL.why, "")
        assert (full["bytes"], full["score"]) == ("35000", "0.75")
        assert (empty["bytes"], empty["fetched_at"], empty["score"], empty["title"]) == ("", "", "", "")

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
    def test_no_cell_is_a_formula(self, tmp_path: Path, start: str) -> None:
        evil = start + "HYPERLINK(1)"
        row = EMPTY._replace(anchor=evil, title=evil, label=evil, content_type=evil, url=evil, score=-1.5)
        write_table([row], "csv", tmp_path / "t.csv")
        (found,) = read_csv(tmp_path / "t.csv")
        assert {found[name] for name in ("anchor", "title", "label", "content_type", "url")} == {"'" + evil}
        assert found["score"] == "-1.5"  # a number is no formula

    @FEW
    @given(rows=ROWS)
    def test_round_trip(self, tmp_path: Path, rows: list[Row]) -> None:
        write_table(rows, "csv", tmp_path / "t.csv")
        found = read_csv(tmp_path / "t.csv")
        assert len(found) == len(rows)
        for cells, row in zip(found, rows, strict=True):
            for name in ("url", "content_type", "anchor", "label", "title"):
                value = getattr(row, name)
                assert cells[name] == ("'" + value if value.startswith(tuple("=+-@\t\r\n")) else value)
            for name in ("n", "bytes", "seconds", "score", "relevance"):
                value = getattr(row, name)
                assert cells[name] == "" if value is None else type(value)(cells[name]) == value
            assert (cells["fetched_at"] and datetime.fromisoformat(cells["fetched_at"])) == (
                moment(row.fetched_at) or ""
            )
            assert {"": None, "true": True, "false": False}[cells["on_topic"]] is row.on_topic


class TestParquet:
    def test_types(self, tmp_path: Path) -> None:
        assert write_table([FULL, EMPTY], "parquet", tmp_path / "t.parquet") == 2
        table = pq.read_table(tmp_path / "t.parquet")
        assert tuple(table.column_names) == COLUMNS
        kinds = {field.name: field.type for field in table.schema}
        assert kinds["fetched_at"] == pa.timestamp("us", tz="UTC")
        assert kinds["on_topic"] == pa.bool_()
        assert {kinds[name] for name in ("n", "bytes")} == {pa.int64()}
        assert {kinds[name] for name in ("seconds", "score", "relevance")} == {pa.float64()}
        assert {kinds[name] for name in ("url", "title", "label")} == {pa.string()}
        assert kinds["why"] == pa.map_(pa.string(), pa.float64())
        assert table.to_pylist()[1] == {**EMPTY._asdict(), "why": []}

    @FEW
    @given(rows=ROWS)
    def test_round_trip(self, tmp_path: Path, rows: list[Row]) -> None:
        write_table(rows, "parquet", tmp_path / "t.parquet")
        table = pq.read_table(tmp_path / "t.parquet")
        micros = table["fetched_at"].cast(pa.int64()).to_pylist()  # needs no time zone data to be read
        found = table.drop_columns("fetched_at").to_pylist()
        for cells, micro in zip(found, micros, strict=True):
            cells["fetched_at"] = None if micro is None else EPOCH + timedelta(microseconds=micro)
        expected = [{**row._asdict(), "fetched_at": moment(row.fetched_at)} for row in rows]
        assert found == [{**row, "why": list(row["why"].items())} for row in expected]

    def test_more_than_one_batch(self, tmp_path: Path) -> None:
        rows = (EMPTY._replace(n=n) for n in range(45_000))
        assert write_table(rows, "parquet", tmp_path / "t.parquet") == 45_000
        file = pq.ParquetFile(tmp_path / "t.parquet")
        assert file.num_row_groups == 3
        assert file.read()["n"].to_pylist() == list(range(45_000))

    def test_without_pyarrow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(BadInput, match=r"pip install 'lycosa\[tables\]'"):
            write_table([FULL], "parquet", tmp_path / "t.parquet")
        assert list(tmp_path.iterdir()) == []

    def test_not_to_standard_output(self) -> None:
        for out in (None, Path("-")):
            with pytest.raises(BadInput, match="parquet cannot be written to standard output"):
                write_table([FULL], "parquet", out)


class TestAll:
    @pytest.mark.parametrize("format", FORMATS)
    def test_no_rows(self, tmp_path: Path, format: str) -> None:
        path = tmp_path / "t"
        assert write_table([], format, path) == 0
        if format == "jsonl":
            assert path.read_bytes() == b""
        elif format == "csv":
            assert path.read_text() == ",".join(COLUMNS) + "\n"  # universal newlines
        else:
            assert tuple(pq.read_table(path).column_names) == COLUMNS

    @pytest.mark.parametrize("format", FORMATS)
    def test_a_broken_export_leaves_no_half_file(self, tmp_path: Path, format: str) -> None:
        def rows() -> Iterator[Row]:
            yield FULL
            raise RuntimeError("the source broke")

        path = tmp_path / "t"
        path.write_text("older")
        with pytest.raises(RuntimeError, match="the source broke"):
            write_table(rows(), format, path)
        assert [one.name for one in tmp_path.iterdir()] == ["t"]
        assert path.read_text() == "older"

    @pytest.mark.parametrize("format", FORMATS)
    def test_what_no_file_can_hold(self, tmp_path: Path, format: str) -> None:
        row = FULL._replace(title="half \ud83d", score=math.nan, relevance=math.inf)
        write_table([row], format, tmp_path / "t")
        if format == "parquet":
            (found,) = pq.read_table(tmp_path / "t", columns=["title", "score", "relevance"]).to_pylist()
        else:
            (found,) = (read_csv if format == "csv" else read_jsonl)(tmp_path / "t")
        nothing = "" if format == "csv" else None
        assert (found["title"], found["score"], found["relevance"]) == ("half ?", nothing, nothing)

    @pytest.mark.parametrize("out", [None, Path("-")])
    def test_standard_output(self, capfdbinary: pytest.CaptureFixture[bytes], out: Path | None) -> None:
        write_table([FULL], "csv", out)
        write_table([FULL], "jsonl", out)
        sys.stdout.buffer.write(b"still open\n")
        sys.stdout.buffer.flush()
        text = capfdbinary.readouterr().out.decode()
        table, line = text.removesuffix("still open\n").split("\r\n{")
        (found,) = csv.DictReader(io.StringIO(table, newline=""))
        assert found["title"] == FULL.title
        assert json.loads("{" + line)["title"] == FULL.title

    def test_unknown_format(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="unknown table format 'xlsx': use jsonl, csv, parquet"):
            write_table([FULL], "xlsx", tmp_path / "t")
        assert list(tmp_path.iterdir()) == []

    def test_where_nothing_can_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="is a folder"):
            write_table([FULL], "csv", tmp_path)
        with pytest.raises(BadInput, match="no such folder"):
            write_table([FULL], "csv", tmp_path / "none" / "t.csv")

    @pytest.mark.parametrize("format", FORMATS)
    def test_a_full_disk_is_one_line_and_leaves_what_was_there(self, tmp_path: Path, format: str) -> None:
        path = tmp_path / "t"
        path.write_text("older")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, before[1]))
        try:
            with pytest.raises(BadInput, match="t: cannot be written: File too large"):
                write_table((FULL._replace(n=n, title=f"{n * 7919 % 104729}") for n in range(9_000)), format, path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [one.name for one in tmp_path.iterdir()] == ["t"]
        assert path.read_text() == "older"

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
    def test_a_folder_that_is_not_ours(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(BadInput, match=r"t\.csv: cannot be written: Permission denied"):
                write_table([FULL], "csv", tmp_path / "t.csv")
        finally:
            tmp_path.chmod(0o700)

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
    def test_full_devices(self) -> None:
        with pytest.raises(BadInput, match="/dev/full: cannot be written: No space left on device"):
            write_table([FULL], "csv", Path("/dev/full"))
        script = "from lycosa.output.table import write_table; write_table([[1]], {'n': 'whole'}, 'csv', None)"
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run([sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True)
        last = "lycosa.errors.BadInput: standard output: cannot be written: No space left on device"
        assert done.stderr.splitlines()[-1] == last  # and nothing more when Python ends

    def test_a_link_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "real.jsonl").write_text("older")
        (tmp_path / "link.jsonl").symlink_to("real.jsonl")
        write_table([FULL], "jsonl", tmp_path / "link.jsonl")
        assert (tmp_path / "link.jsonl").is_symlink()
        assert read_jsonl(tmp_path / "real.jsonl")[0]["n"] == 1

    def test_a_pipe_is_not_replaced(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        found: list[str] = []
        reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
        reader.start()
        write_table([FULL], "jsonl", pipe)
        reader.join()
        assert json.loads(found[0])["n"] == 1
        assert pipe.is_fifo()

    def test_the_file_is_as_open_as_any_other(self, tmp_path: Path) -> None:
        (tmp_path / "other").touch()
        write_table([FULL], "csv", tmp_path / "t.csv")
        assert (tmp_path / "t.csv").stat().st_mode == (tmp_path / "other").stat().st_mode

    @pytest.mark.parametrize("format", ["jsonl", "csv"])
    def test_memory_does_not_grow_with_the_rows(self, tmp_path: Path, format: str) -> None:
        tracemalloc.start()
        try:
            write_table((FULL._replace(n=n) for n in range(10_000)), format, tmp_path / "t")
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()
        assert (tmp_path / "t").stat().st_size > 1_500_000

    def test_pyarrow_is_imported_only_for_parquet(self) -> None:
        script = "import sys, lycosa.output.table; sys.exit('pyarrow' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", script]).returncode == 0
