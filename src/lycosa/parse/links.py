"""Find the links of a page in one walk over its tree, and mark their anchors."""

from collections.abc import Iterable, Mapping, Sequence

from selectolax.lexbor import LexborNode

from lycosa.parse.anchor_spans import END, START, Anchor
from lycosa.parse.base_url import Addresses
from lycosa.parse.notes import Notes, forbids_link
from lycosa.types import Link

_UNSEEN = ("script", "style", "noscript", "select", "textarea", "noframes")
_ALL_UNSEEN = ",".join(_UNSEEN)
_IN_BODY = ",".join(("[href]", "iframe", "meta", *_UNSEEN))
_START, _END = START.encode(), END.encode()

Given = Mapping[str, str | None]  # the attributes of a tag


class Finds:
    """The links of one page while it is parsed: URL and node of every anchor, URL and label of every other link."""

    def __init__(self, url: str, also: str, notes: Notes, addresses: Addresses, most: int) -> None:
        self.notes = notes
        self.most = most
        self.anchors: list[tuple[str, LexborNode]] = []
        self.others: list[tuple[str, str]] = []
        self.any_hidden = False  # links in removed elements, whose marks were removed with them
        self._url = url
        self._own = {"", url, also}  # links to the page itself are ignored
        self._addresses = addresses
        self._address = addresses.of(url)

    def read_head(self, head: LexborNode) -> None:
        """What the page says about itself."""
        for node in head.css(self.notes.selector):
            self._note(node.tag or "", node.attributes)

    def hide(self, body: LexborNode) -> None:
        """Remove invisible elements before the walk, so that no links are found in them."""
        for node in body.css(_ALL_UNSEEN):
            node.decompose(recursive=False)

    def read_body(self, body: LexborNode) -> None:
        """Find the links, mark the anchors and remove invisible elements."""
        anchors, most = self.anchors, self.most * 4  # may repeat
        for node in body.css(_IN_BODY):
            tag = node.tag or ""
            if tag == "a":
                url = self._target(node.attributes)
                if url and len(anchors) < most:
                    node.insert_before(_START)
                    node.insert_after(_END)
                    anchors.append((url, node))
            elif tag in _UNSEEN:
                self.any_hidden = self.any_hidden or _holds_links(node)
                node.decompose(recursive=False)
            else:
                self._read_rare(tag, node)

    def read_frames(self, root: LexborNode) -> None:
        """A page without a body has only its frames."""
        for node in root.css("frame[src]"):
            given = node.attributes
            self._other(self._address.join(given["src"] or ""), given.get("title"))

    def _read_rare(self, tag: str, node: LexborNode) -> None:
        given = node.attributes
        if tag == "iframe":
            self._other(self._address.join(given.get("src") or "#"), given.get("title"))
            node.decompose(recursive=False)  # its content is for browsers without frames
        elif tag == "area":
            self._other(self._target(given), given.get("alt") or given.get("title"))
        else:
            self._note(tag, given)

    def _target(self, given: Given) -> str:
        """The URL of an <a> or <area>; empty if it must not be followed."""
        href = given.get("href") or given.get("xlink:href")
        if not href or href[0] == "#":
            return ""
        rel = given.get("rel")
        if rel and forbids_link(rel):
            return ""
        url = self._address.join(href)
        return "" if url in self._own else url

    def _other(self, url: str, label: str | None) -> None:
        if url not in self._own and len(self.others) < self.most:
            self.others.append((url, " ".join((label or "").split())))

    def _note(self, tag: str, given: Given) -> None:
        base = self.notes.base
        self.notes.read(tag, given)
        if self.notes.base != base:
            self._address = self._addresses.of(self._address.join(self.notes.base) or self._url)

    @property
    def canonical(self) -> str:
        """The canonical URL that the page states; empty if none."""
        return self._address.join(self.notes.canonical) if self.notes.canonical else ""

    def links(self, anchors: Sequence[Anchor], source: str, depth: int) -> list[Link]:
        """Each URL once, in page order, with its first anchor that has words; otherwise with a label."""
        links: dict[str, Link] = {}
        mute: dict[str, list[LexborNode]] = {}
        for (url, node), (anchor, start, end) in zip(self.anchors, anchors, strict=True):
            known = links.get(url)
            if known is None or (anchor and not known.anchor):
                links[url] = Link(url, source, anchor, depth, start, end)
            if not anchor:
                mute.setdefault(url, []).append(node)
        for url, nodes in mute.items():
            if not links[url].anchor:
                label = next(filter(None, map(_label, nodes)), "")
                links[url] = Link(url, source, label, depth, links[url].start, links[url].end)
        if self.notes.refresh:
            self._other(self._address.join(self.notes.refresh), "")
        self._other(self.canonical, "")
        for url, label in self.others:
            known = links.get(url)
            if known is None:
                links[url] = Link(url, source, label, depth)
            elif label and not known.anchor:
                links[url] = Link(url, source, label, depth, known.start, known.end)
        return list(links.values())[: self.most]


def _holds_links(unseen: LexborNode) -> bool:
    """Nearly always it contains text only, but a <select> can contain links, and so can a <style> within <svg>."""
    child = unseen.first_child
    if child is None or (child.next is None and child.is_text_node):
        return False
    return unseen.css_first("[href]") is not None


def _label(anchor: LexborNode) -> str:
    """The substitute for a missing link text: the alternative text of its image, or its title."""
    labels: Iterable[str | None] = (image.attributes.get("alt") for image in anchor.css("img[alt]"))
    for label in (*labels, anchor.attributes.get("title")):
        words = (label or "").split()
        if words:
            return " ".join(words)
    return ""
