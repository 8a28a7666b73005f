"""Lines that are written over and over, on a terminal that changes its size."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from lycosa.output.display import Display


class Screen:
    """A terminal with as many rows as it needs; it breaks what is too long when it is made narrower."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines = [""]  # as they were written, each with its line end; the cursor is in one of their rows
        self.row = 0

    def rows(self) -> list[str]:
        return [
            line[start : start + self.width] for line in self.lines for start in range(0, max(1, len(line)), self.width)
        ]

    def feed(self, text: str) -> None:
        rows = self.rows()
        for control, argument, letter, word in re.findall(r"(\x1b\[(\??\d*)([A-Za-z]))|([^\x1b])", text):
            if letter == "A":
                self.row -= int(argument)
                assert self.row >= 0
            elif letter == "K":
                rows[self.row] = ""
            elif word == "\n":
                self.row += 1
                rows += [""] * (self.row >= len(rows))
            elif word and word != "\r":
                rows[self.row] += word
                assert len(rows[self.row]) <= self.width
            assert control is not None
        assert not any(rows[self.row + 1 :])
        self.lines = rows[: self.row + 1]

    def resize(self, width: int) -> None:
        """The cursor stands at the end of the last line, and stays there."""
        self.width = width
        self.row = len(self.rows()) - 1


def show(display: Display, console: Console, screen: Screen, *lines: str) -> None:
    console.width = screen.width
    file = console.file
    assert isinstance(file, io.StringIO)
    file.truncate(0)
    file.seek(0)
    if lines:
        display.show([Text(line) for line in lines])
    else:
        display.close()
    screen.feed(file.getvalue())


@given(st.lists(st.tuples(st.integers(3, 120), st.lists(st.integers(0, 100), min_size=1, max_size=6)), min_size=1))
def test_no_size_leaves_anything_behind(steps: list[tuple[int, list[int]]]) -> None:
    console, screen = Console(file=io.StringIO(), force_terminal=True, width=80, height=30), Screen(80)
    display = Display(console)
    for width, lengths in steps:
        screen.resize(width)
        show(display, console, screen, *("x" * length for length in lengths))
        shown = [row for row in screen.lines if row]
        assert shown == [_cut("x" * length, width) for length in lengths if length]
    show(display, console, screen)
    assert not any(screen.lines)


def _cut(line: str, width: int) -> str:
    most = min(78, width - 1)
    return line if len(line) <= most else line[: most - 1] + "…"


def test_a_low_terminal_shows_the_first_lines() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=3)
    screen = Screen(80)
    show(Display(console), console, screen, "one", "two", "three", "four")
    assert screen.lines == ["one", "two"]
