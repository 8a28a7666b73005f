"""A stored copy of a page as harmless HTML: what it says and how it is laid out, without anything that acts or loads.

The frame it is shown in forbids scripts and the network anyway. Without what it would forbid, the browser has nothing
to complain about, and links do not lead out of the frame.
"""

import re

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from lycosa.errors import TooCostly
from lycosa.parse.charset import to_utf8

_REMOVED = (
    "script, noscript, template, link, meta, base, iframe, frame, frameset, object, embed, applet, video, audio,"
    " source, track, form > input[type=hidden], img, picture > source, input[type=image], svg, math, canvas, dialog"
)
_KEPT = frozenset(
    "class style align valign width height colspan rowspan dir lang alt title datetime type start border cellpadding"
    " cellspacing bgcolor color face size open span scope id value placeholder".split()
)
_LOADS = re.compile(r"url\s*\(|@import|expression\s*\(|image-set\s*\(|\\", re.IGNORECASE)
EMPTY = "<!doctype html><title>No copy</title><p>This page cannot be shown.</p>"


def harmless(body: bytes, content_type: str) -> str:
    """The page as UTF-8 text; plain text is escaped."""
    try:
        text = to_utf8(body, content_type)
        if "html" not in content_type.lower():
            return f"<!doctype html><pre>{_escaped(text.decode(errors='replace'))}</pre>"
        tree = LexborHTMLParser(text)
        removed = {node.mem_id: node for node in tree.css(_REMOVED)}
        for node in reversed(removed.values()):  # innermost first: what is inside a removed node must not be touched
            node.decompose()
        for node in tree.css("*"):
            for name, value in list(node.attributes.items()):
                if name not in _KEPT or (name == "style" and _LOADS.search(value or "")):
                    del node.attrs[name]
        for node in tree.css("style"):
            if _LOADS.search(node.text() or ""):
                node.decompose()
        page = tree.html or ""
        return page if page[:9].lower() == "<!doctype" else f"<!doctype html>{page}"
    except (TooCostly, ValueError, RuntimeError, SelectolaxError, RecursionError):
        return EMPTY


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
