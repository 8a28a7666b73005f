"""Model files: what was saved comes back, and whatever is not a whole model of ours is refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from msgspec import Struct

from lycosa.judge import model_file
from lycosa.types import BadInput


class Facts(Struct, frozen=True):
    labels: list[str]
    size: int = 0


FACTS = Facts(["yes", "no", "Größe"], 7)
ARRAYS = {
    "weights": np.arange(6, dtype=np.float32).reshape(3, 2),
    "empty": np.zeros((0, 4)),
    "ids": np.arange(3, dtype=np.int32),
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / model_file.NAME
    model_file.save(path, "examples", FACTS, ARRAYS)
    return path


def load(path: Path) -> tuple[Facts, model_file.Arrays]:
    return model_file.load(path, "examples", Facts)


def refused(path: Path, kind: str = "examples") -> str:
    with pytest.raises(BadInput) as caught:
        model_file.load(path, kind, Facts)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def sealed(path: Path, body: bytes) -> None:
    """A file with a checksum that fits: damage that a checksum does not show."""
    path.write_bytes(body + xxhash.xxh3_64_intdigest(body).to_bytes(8, "little"))


def with_header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = path.read_bytes()
    size = int.from_bytes(data[12:20], "little")
    header = msgspec.json.decode(data[20 : 20 + size])
    change(header)
    changed = msgspec.json.encode(header)
    sealed(path, data[:12] + len(changed).to_bytes(8, "little") + changed + data[20 + size : -8])


def test_what_was_saved_comes_back(saved: Path) -> None:
    facts, arrays = load(saved)
    assert facts == FACTS
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert (arrays[name] == array).all()


@settings(max_examples=30)
@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int32]), hnp.array_shapes(min_side=0), elements=st.integers(0, 9)
    )
)
def test_any_array_comes_back(tmp_path_factory: pytest.TempPathFactory, array: Any) -> None:
    path = tmp_path_factory.mktemp("model") / "m"
    model_file.save(path, "examples", FACTS, {"a": array})
    back = load(path)[1]["a"]
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_a_big_endian_or_strided_array_comes_back_with_the_same_numbers(tmp_path: Path) -> None:
    array = np.arange(12, dtype=">f4").reshape(3, 4)[:, ::2]
    model_file.save(tmp_path / "m", "examples", FACTS, {"a": array})
    assert load(tmp_path / "m")[1]["a"].tolist() == array.tolist()


def test_the_same_model_is_the_same_bytes_and_leaves_no_other_file(saved: Path) -> None:
    before = saved.read_bytes()
    model_file.save(saved, "examples", FACTS, ARRAYS)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [model_file.NAME]


def test_a_failed_save_leaves_the_old_model(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(TypeError):
        model_file.save(saved, "examples", FACTS, {"a": np.array([object()])})
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [model_file.NAME]


def test_every_shortening_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for size in range(len(data)):
        saved.write_bytes(data[:size])
        assert "cut short" in refused(saved)


def test_every_changed_byte_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for place in range(len(data)):
        saved.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        refused(saved)


def test_bytes_after_the_end_are_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    assert "damaged" in refused(saved)


def test_a_newer_format_says_so(saved: Path) -> None:
    data = saved.read_bytes()
    sealed(saved, data[:8] + (model_file.FORMAT + 1).to_bytes(4, "little") + data[12:-8])
    assert "newer Lycosa (format 2; this one reads up to 1)" in refused(saved)


def test_another_kind_is_named(saved: Path) -> None:
    assert "kind 'examples', not 'taxonomy'" in refused(saved, "taxonomy")


@pytest.mark.parametrize("text", ["", "hello", "[topic]\nkind = 'examples'\n" * 9])
def test_another_file_is_no_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "m").write_text(text)
    assert "not a model file" in refused(tmp_path / "m")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "m")
    assert "cannot be read" in refused(tmp_path)


def test_other_facts_are_refused(saved: Path) -> None:
    with_header(saved, lambda header: header["facts"].pop("labels"))
    assert "labels" in refused(saved)


def test_a_header_that_is_no_json_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    sealed(saved, data[:20] + b"\xff" + data[21:-8])
    assert "damaged" in refused(saved)
    sealed(saved, data[:12] + (1 << 63).to_bytes(8, "little") + data[20:-8])
    assert "damaged" in refused(saved)


def test_deep_nesting_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    header = b"[" * 100_000
    sealed(saved, data[:12] + len(header).to_bytes(8, "little") + header)
    assert "damaged" in refused(saved)


@pytest.mark.parametrize(
    "shape", [[3, 3], [-3, -2], [1 << 62, 1 << 62], [3], []], ids=["larger", "negative", "endless", "smaller", "none"]
)
def test_arrays_that_do_not_fill_the_file_are_refused(saved: Path, shape: list[int]) -> None:
    with_header(saved, lambda header: header["arrays"][0].update(shape=shape))
    assert "damaged" in refused(saved)


@pytest.mark.parametrize("dtype", ["|O", "<V8", "<M8[s]", ">f4"])
def test_only_plain_numbers_are_read(saved: Path, dtype: str) -> None:
    with_header(saved, lambda header: header["arrays"][0].update(type=dtype))
    assert "damaged" in refused(saved)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(tmp_path: Path, value: float) -> None:
    model_file.save(tmp_path / "m", "examples", FACTS, {"weights": np.array([1.0, value])})
    assert "weights holds something that is not a number" in refused(tmp_path / "m")
