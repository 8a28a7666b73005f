"""The Markdown that our own reports are written in, as blocks for a template. Everything else stays plain text."""

import re
from collections.abc import Iterator

from msgspec import Struct

_IMAGE = re.compile(r"!\[(.*?)\]\((\S+?)\)")
_INLINE = re.compile(r"\*\*(?P<strong>.+?)\*\*|\*(?P<em>[^*]+)\*|`(?P<code>[^`]+)`|\[(?P<a>[^\]]*)\]\([^)]*\)")
_RULE = re.compile(r"\|?[\s:|-]+\|?")


class Span(Struct, frozen=True):
    """A piece of a line: strong, em, code, a (a link, of which only the text is kept), or plain."""

    text: str
    kind: str = ""


class Block(Struct, frozen=True):
    """A heading, paragraph, list, table or image."""

    kind: str  # h, p, ul, table, img
    spans: list[Span] = []
    level: int = 0  # of a heading
    items: list[list[Span]] = []  # of a list
    rows: list[list[list[Span]]] = []  # of a table, the head first
    src: str = ""  # of an image


def blocks(text: str) -> Iterator[Block]:
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.strip().splitlines()
        if not lines:
            continue
        first = lines[0]
        if image := _IMAGE.fullmatch(first.strip()):
            yield Block("img", [Span(image[1])], src=image[2])
        elif first.startswith("#"):
            yield Block("h", spans(first.lstrip("# ")), level=min(6, len(first) - len(first.lstrip("#"))))
        elif first.startswith("|"):
            yield Block("table", rows=[_cells(line) for line in lines if not _RULE.fullmatch(line)])
        elif first.startswith("- "):
            yield Block("ul", items=[spans(line.removeprefix("- ")) for line in lines])
        else:
            yield Block("p", spans(" ".join(lines)))


def spans(line: str) -> list[Span]:
    found, end = [], 0
    for match in _INLINE.finditer(line):
        kind = match.lastgroup or ""
        found += [Span(line[end : match.start()]), Span(match[kind], kind)]
        end = match.end()
    return [span for span in [*found, Span(line[end:])] if span.text]


def _cells(line: str) -> list[list[Span]]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [spans(cell.strip().replace("\\|", "|")) for cell in cells]
