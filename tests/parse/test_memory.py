"""The C library is configured once to keep its memory."""

import platform

import pytest

from lycosa.parse import memory


@pytest.fixture(autouse=True)
def _afresh() -> None:
    memory.keep_memory.cache_clear()


def test_it_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, option: int, value: int) -> int:
            told.append((option, value))
            return 1

    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(memory.sys, "platform", "linux")
    assert memory.keep_memory()
    assert memory.keep_memory()
    assert [option for option, _ in told] == [-1, -3]


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    assert not memory.keep_memory()


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.sys, "platform", "linux")
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert not memory.keep_memory()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_the_real_library_takes_it() -> None:
    assert memory.keep_memory()
