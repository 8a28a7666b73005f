"""A passage with its telling words marked, by colours or by signs, and nothing that a terminal obeys."""

import io

from rich.console import Console

from lycosa.output.passages import AGAINST, FOR, marked

TEXT, WORDS = "A Wolf-spider's web,\nno comic \x1b[31m\u202e.", {"wolf": 0.3, "comic": -0.2}


def console(colours: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=colours, color_system="standard" if colours else None)


def test_with_colours() -> None:
    found = marked(TEXT, WORDS, console(colours=True))
    assert found.plain == "A Wolf-spider's web, no comic  [31m ."
    assert [(found.plain[span.start : span.end], span.style) for span in found.spans] == [
        ("Wolf", FOR),
        ("comic", AGAINST),
    ]


def test_without_colours() -> None:
    assert marked(TEXT, WORDS, console(colours=False)).plain == "A *Wolf*-spider's web, no -comic-  [31m ."
    assert marked("nothing here", {}, console(colours=False)).plain == "nothing here"
