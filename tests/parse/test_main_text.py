"""The main text of a page, without what surrounds it."""

import importlib

import pytest
from selectolax.lexbor import LexborNode

from lycosa.parse import main_text

AROUND = "<header>Site</header><nav><a href=/>Home</a></nav>{}<footer>Imprint</footer>"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (AROUND.format("<main><h1>Wolf spiders</h1><p>They <b>hunt</b>.</main>"), "Wolf spiders They hunt ."),
        (AROUND.format("<div role=main>Prey</div><div>Banner</div>"), "Prey"),
        (AROUND.format("<article><header>Title</header>Prey</article><div>More</div>"), "Title Prey"),
        (AROUND.format("<article>One</article><article>Two</article>"), "One Two"),
        (AROUND.format("<main></main><p>Prey"), "Prey"),
        (AROUND.format("<ul><li><a>A</a><li><a>B</a><li><a>C</a></ul><p>Prey"), "Prey"),
        (AROUND.format("<ul><li><a>A</a> is said of<li><a>B</a> and <li><a>C</a></ul>"), "A is said of B and C"),
        ("<body><script>code()</script><style>p {}</style>Prey<select><option>one</select>", "Prey"),
        ("<form>Nothing but a form</form>", "Nothing but a form"),
        ("<nav role=navigation><nav><form><aside>A</aside></form></nav></nav><p>Prey", "Prey"),
        ("<ul><li><a>A</a><ul><li><a>B</a><li><a>C</a><li><a>D</a></ul></ul><p>Prey", "Prey"),
        ("", ""),
    ],
)
def test_main_text(html: str, text: str) -> None:
    assert main_text(html.encode(), "text/html") == text


def test_letters_are_read_as_on_the_way_in() -> None:
    assert main_text("<p>Spürsinn".encode("cp1252"), "text/html; charset=iso-8859-1") == "Spürsinn"


def test_lists_in_lists_are_not_each_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("lycosa.parse.main_text")
    count, read = module._letters, list[int]()

    def letters(node: LexborNode) -> int:
        read.append(count(node))
        return read[-1]

    monkeypatch.setattr(module, "_letters", letters)
    page = "<ul><li>" * 300 + "<a href=/>x</a>" * 3 + "wolf spider " * 1_000
    assert main_text(page.encode(), "text/html").endswith("spider")
    assert sum(read) < 10 * len(page)
