"""A few lines at the bottom of a terminal that are updated in place, even if the terminal is resized."""

from collections.abc import Sequence

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

MOST_CELLS = 78  # per line: shorter lines stay unbroken when a wide terminal is made narrower


class Display:
    """Show lines in place of those shown before.

    A terminal that is made narrower wraps the existing lines, so before each update we count how many rows they take at
    the current width.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: list[int] = []  # the width of each line in cells

    def show(self, lines: Sequence[Text]) -> None:
        width, height = self._console.size
        cut = [line.copy() for line in lines[: max(1, height - 1)]]
        for line in cut:
            # a full row would leave the cursor in the next one
            line.truncate(max(1, min(MOST_CELLS, width - 1)), overflow="ellipsis")
        with self._console:  # in one write, so that it does not flicker
            self._erase()
            self._console.print(Text("\n").join(cut), end="", soft_wrap=True, highlight=False)
        self._shown = [line.cell_len for line in cut]

    def close(self) -> None:
        """Remove the lines; what is printed next takes their place."""
        self._erase()
        self._shown = []

    def _erase(self) -> None:
        if not self._shown:
            return
        width = max(1, self._console.width)
        rows = sum(max(1, -(-cells // width)) for cells in self._shown)
        erase = (ControlType.ERASE_IN_LINE, 2)
        up = ((ControlType.CURSOR_UP, 1), erase) * (rows - 1)
        self._console.control(Control(ControlType.CARRIAGE_RETURN, erase, *up))
