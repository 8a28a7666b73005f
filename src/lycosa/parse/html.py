"""From HTML to a Page: title, text, words and links.

The tree is built and walked in C, and Python only sees the nodes of links: an object per node would cost more than
everything else. So the text is extracted in one piece, with marks around the anchors.
"""

import re

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from lycosa.parse.anchor_spans import unmarked, without_marks
from lycosa.parse.base_url import Addresses
from lycosa.parse.charset import to_utf8
from lycosa.parse.links import Finds
from lycosa.parse.notes import Notes, forbids_following, language
from lycosa.parse.simhash import simhash
from lycosa.parse.strip_tags import strip_tags
from lycosa.types import Page, Reply

_LONGEST_TITLE = 500
_QUIET = int(LexborDocumentOptions.WO_EVENTS)


class HtmlParser:
    """Reads HTML like a browser without images and scripts. Broken HTML is HTML too."""

    def __init__(self, max_links: int = 5000, robot: str = "lycosa") -> None:
        self.max_links = max_links
        self.robot = re.sub(r"[^\w-]", "", robot.lower())  # the name by which a robots meta tag may address us
        self._addresses = Addresses()

    def parse(self, reply: Reply) -> Page:
        """The page of a reply; ValueError if it cannot be read."""
        html = strip_tags(to_utf8(reply.body, reply.content_type))
        page = self._read(html, reply)
        if page is None:  # it contains our marks, or links in an invisible element
            page = self._read(without_marks(html), reply, hide=True)
        if page is None:
            raise ValueError("the anchors of the page cannot be separated")
        return page

    def _read(self, html: bytes, reply: Reply, hide: bool = False) -> Page | None:
        """The page, or None if its anchors cannot be located in its text."""
        tree = _tree(html)
        url = reply.url or reply.link.url
        finds = Finds(url, reply.link.url, Notes(self.robot), self._addresses, self.max_links)
        marked = _read_tree(tree, finds, hide)
        found = None if finds.any_hidden else unmarked(marked, len(finds.anchors))
        if found is None:
            return None
        text, words, anchors = found
        follow = finds.notes.may_follow and not forbids_following(reply.robots_tag, self.robot)
        return Page(
            url=url,
            title=_title(tree),
            text=text,
            words=words,
            links=finds.links(anchors, reply.link.url, reply.link.depth + 1) if follow else (),
            language=finds.notes.language,
            canonical=finds.canonical,
            simhash=simhash(words),
        )


def _tree(html: bytes) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(html, options=_QUIET, scripting=True)
    except SelectolaxError as error:
        raise ValueError(f"not readable as HTML: {error}") from error


def _read_tree(tree: LexborHTMLParser, finds: Finds, hide: bool) -> str:
    """Collect links in `finds` and return the text with marks around the anchors."""
    root, head, body = tree.root, tree.head, tree.body
    if root is not None:
        given = root.attributes
        finds.notes.language = language(given.get("lang") or given.get("xml:lang") or "")
    if head is not None:
        finds.read_head(head)
    if body is None:
        if root is not None:
            finds.read_frames(root)
        return ""
    if hide:
        finds.hide(body)
    finds.read_body(body)
    return body.text(separator=" ", skip_empty=True)


def _title(tree: LexborHTMLParser) -> str:
    """The title on one line; broken markup may have moved it into the body."""
    node = tree.head.css_first("title") if tree.head is not None else None
    if node is None:
        node = tree.css_first("body title:not(svg title)")
    return " ".join(node.text().split())[:_LONGEST_TITLE] if node is not None else ""
