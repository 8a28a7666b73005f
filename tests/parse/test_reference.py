"""The fast reading of a page equals a slow one that walks the tree node by node."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from lycosa.parse import HtmlParser, simhash
from lycosa.parse.charset import to_utf8
from lycosa.parse.strip_tags import strip_tags
from lycosa.text import words
from lycosa.types import Link, Page, Reply
from lycosa.urls import Base, canonical

UNSEEN = {"script", "style", "noscript", "select", "textarea", "noframes", "iframe"}
URL = "http://e.org/dir/page"


class Slow:
    """One pass over all nodes, entering and leaving each; links as (url, anchor, start, end)."""

    def __init__(self, body: bytes, url: str = URL) -> None:
        self.url = url
        self.words: list[str] = []
        self.found: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        tree = LexborHTMLParser(to_utf8(body), scripting=True)
        base = tree.css_first("base[href]")
        inner = Base(url).join(base.attributes["href"] or "") if base is not None else ""
        self._base = Base(inner or url)
        if tree.body is not None:
            for node, entering in walk(tree.body):
                (self._enter if entering else self._leave)(node)

    def _enter(self, node: LexborNode) -> None:
        if node.is_text_node:
            text = (node.text_content or "").replace("\x02", " ").replace("\x03", " ")
            if text.strip(" \t\r\n\f"):
                self.words += words(text)
                if self._open:
                    self._open["text"] += " " + text
        elif node.tag == "a" and (url := self._target(node)):
            self._close()
            self._open = {"url": url, "text": "", "start": len(self.words), "node": node.mem_id, "label": label(node)}
            self.found.append(self._open)

    def _leave(self, node: LexborNode) -> None:
        if self._open and self._open["node"] == node.mem_id:
            self._close()

    def _close(self) -> None:
        if self._open:
            self._open["end"] = len(self.words)
        self._open = None

    def _target(self, node: LexborNode) -> str:
        href = node.attributes.get("href") or ""
        rel = (node.attributes.get("rel") or "").lower().split()
        if not href or href.startswith("#") or {"nofollow", "ugc", "sponsored"} & set(rel):
            return ""
        url = self._base.join(href)
        return "" if url == self.url else url

    def links(self) -> list[tuple[str, str, int, int]]:
        best: dict[str, tuple[str, str, int, int]] = {}
        for find in self.found:
            link = (find["url"], " ".join(find["text"].split()), find["start"], find["end"])
            if link[0] not in best or (link[1] and not best[link[0]][1]):
                best[link[0]] = link
        for find in self.found:
            url, text, start, end = best[find["url"]]
            best[url] = (url, text or find["label"], start, end)
        return list(best.values())


def walk(top: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below, once when it is entered and once when it is left; without what no reader sees."""
    waiting: list[tuple[LexborNode, bool]] = [(top, False), (top, True)]
    while waiting:
        node, entering = waiting.pop()
        yield node, entering
        if entering and node is not top:
            waiting.append((node, False))
        if entering:
            children = [child for child in node.iter(include_text=True) if child.tag not in UNSEEN]
            waiting += [(child, True) for child in reversed(children)]


def label(node: LexborNode) -> str:
    images = [image.attributes["alt"] or "" for image in node.css("img[alt]")]
    labels = [" ".join(text.split()) for text in (*images, node.attributes.get("title") or "")]
    return next(filter(None, labels), "")


def fast(body: bytes, url: str = URL) -> Page:
    return HtmlParser(max_links=100_000).parse(Reply(Link(url), url=url, content_type="text/html", body=body))


def assert_same(body: bytes, url: str = URL) -> None:
    page, slow = fast(body, url), Slow(body, url)
    assert page.words == slow.words == words(page.text)
    anchored = {link[0] for link in slow.links()}
    found = [(link.url, link.anchor, link.start, link.end) for link in page.links if link.url in anchored]
    assert [link for link in found if len(link[1]) < 250] == [link for link in slow.links() if len(link[1]) < 250]
    assert page.simhash == simhash(slow.words)
    for link in page.links:
        assert link.start == link.end or page.words[link.start : link.end] == words(link.anchor)


PIECES = st.sampled_from(
    """
    <p> </p> <div> </div> <b> </b> <i> </i> <ul> <li> </ul> <table> <tr> <td> </td> </table> <br> <h1> </h1> <font
    color=red> </font> <span> </span> <select> <option> </select> <svg> </svg> <button> </button> <form> </form> <nobr>
    <a|href="/one"> <a|href="two?x=1&amp;y=2"> <a|href=http://other.example/> <a|href="#top"> <a|href="mailto:a@b.c">
    <a|rel=nofollow|href=/three> <a|title="a|title"|href=/four> <A|HREF='/one'> <a> <a|name=x> </a> </a> </a> </A>
    <a|href=""> <a|href=/dir/page> <a|href="../five"> <a|href="//six.example/x"> <a|href=javascript:void(0)>
    <img|alt="a|picture"> <img> <img|alt=""> <!--|a|comment|--> <!--> <script>var|a="<a|href=/no>no</a>"</script>
    <style>p{}</style> <noscript><a|href=/hidden>hidden</a></noscript> <template><a|href=/t>t</a></template>
    <textarea><a|href=/area>area</a></textarea> <iframe|src=/frame>raw|<b></iframe>
    <svg><style><a|href=/odd>odd</a></style>
    &amp; &nbsp; &eacute; &#2; &#x3; &lt;a&gt; Wolf spiders hunt at|night caf\u00e9 na\u00efve \u2013 \u201cquoted\u201d
    \u0130stanbul \u03a3\u03a3 \u4e2d\u6587 x2 _under_score_ \x02 \x03 \x00
    """.split()
).map(lambda piece: piece.replace("|", " "))


@settings(max_examples=400)
@given(st.lists(st.one_of(PIECES, PIECES, st.sampled_from(["word ", " ", "\n", "Link", "\u00a0"]))))
def test_generated_pages_read_alike(pieces: list[str]) -> None:
    assert_same("".join(pieces).encode())


@settings(max_examples=100)
@given(st.text(max_size=200))
def test_any_text_reads_alike(text: str) -> None:
    assert_same(text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<a href=/x>one<p>two</a>three",
        "<table><tr><td><a href=/x>outer<table><tr><td><a href=/y>inner</a> rest</table> after</a>",
        "<a href=/1><div>block <h2>in</h2> a link</div></a><a href=/2>second</a>",
        "<p><a href=/1>unclosed <p>goes on <a href=/2>until here</a> end",
        "<base href='http://base.example/a/'><a href=b>c</a>",
        "<select><option><a href=/in-select>x</a></select><a href=/y>y</a>",
    ],
)
def test_written_pages_read_alike(body: str) -> None:
    assert_same(body.encode())


def recorded() -> Path:
    return Path(os.environ.get("LYCOSA_WEBS") or Path(__file__).parents[3] / "shared" / "webs") / "webkb-texas.warc.gz"


@pytest.mark.skipif(not recorded().exists(), reason="needs the recorded webs: set LYCOSA_WEBS to their folder")
def test_real_pages_read_alike() -> None:
    with recorded().open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            if record.http_headers and record.http_headers.status_code == 200:
                body = record.reader.read()
                if (
                    strip_tags(body) == body
                ):  # else no tree is built of its tables, and its words come in the written order
                    assert_same(body, canonical(record.headers["WARC-Target-URI"]))
