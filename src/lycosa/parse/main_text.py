"""The main text of a page, without navigation, footers and forms."""

from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from lycosa.parse.charset import to_utf8
from lycosa.parse.strip_tags import strip_tags

_MAIN = ("main", "[role=main]", "article")
_UNSEEN = "script, style, noscript, template, iframe, svg, select, button, textarea"
_LEAST_LINKS, _LINKED = 3, 0.8  # a list with this many links that make up this share of its text is a menu
_READINGS, _LINK_BYTES = 8, 20  # how often the lists of a page may be read in all; the least size of a link
_AROUND = "nav, aside, footer, form, [role=navigation], [role=banner], [role=contentinfo], [hidden]"


def main_text(body: bytes, content_type: str) -> str:
    """The text of the element that the page marks as its main one, otherwise of everything except its surroundings."""
    try:
        tree = LexborHTMLParser(strip_tags(to_utf8(body, content_type)))
    except SelectolaxError:
        return ""
    if tree.body is None:
        return ""
    _drop(tree.body, _UNSEEN)
    whole = _text(tree.body)
    main = _main(tree.body)
    _drop(main or tree.body, _AROUND if main else f"{_AROUND}, header")
    _drop(main or tree.body, "ul, ol", _Menus(_READINGS * len(body)).finds)
    return _text(main or tree.body) or whole  # a page may consist of a form only


def _main(body: LexborNode) -> LexborNode | None:
    """The main element; several of one kind are a list of teasers, none of which is the main one."""
    for selector in _MAIN:
        found = body.css(selector)
        if len(found) == 1 and _text(found[0]):
            return found[0]
    return None


class _Menus:
    """Recognises lists of links and hardly anything else, as long as there are bytes left to read. Each list is read as
    a whole, so that lists in lists in lists would take the square of their number."""

    def __init__(self, left: int) -> None:
        self._left = left

    def finds(self, node: LexborNode) -> bool:
        if self._left <= 0:
            return False
        links, letters = node.css("a"), _letters(node)
        self._left -= letters + _LINK_BYTES * len(links)
        return len(links) >= _LEAST_LINKS and sum(map(_letters, links)) > _LINKED * letters


def _letters(node: LexborNode) -> int:
    return len("".join(node.text().split()))


def _drop(node: LexborNode, selector: str, when: Callable[[LexborNode], bool] = lambda node: True) -> None:
    """Remove nodes, innermost first and each once, because nodes inside a removed one must not be touched."""
    found = {one.mem_id: one for one in node.css(selector) if when(one)}
    for one in reversed(found.values()):
        one.decompose()


def _text(node: LexborNode) -> str:
    return " ".join(node.text(separator=" ", skip_empty=True).split())
