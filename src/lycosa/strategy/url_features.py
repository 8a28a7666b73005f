"""What can be read off a link before it is asked: its words, the kind of its address, other addresses of its page."""

import re
from collections.abc import Callable
from typing import TypeVar

from lycosa.text import STEMS, words
from lycosa.types import Link, Page

T = TypeVar("T")
MOST_WORDS = 12  # of a link: an address or an anchor of a hundred words says no more
MOST_COUNTED = 6  # of each
_address_words = re.compile(r"[^\W\d_]{2,}|~").findall
_plain_words = re.compile(r"[a-z][a-z]+|~").findall  # the same in half the time, for most addresses
_FIRST_PAGES = ("index.html", "index.htm", "index.php", "default.htm", "default.asp", "default.aspx")


def anchor_word(word: str) -> str:
    """As a word of an anchor is counted; nothing for one that says nothing."""
    return f"“{stem}”" if (stem := STEMS[word]) else ""


def path_word(word: str) -> str:
    return f"/{word}"


def marks_of(url: str) -> tuple[str, str, str]:
    """Host, place and area of an address, each with its name before it, since outcomes are counted by them.

    A place is addresses of one kind: host, first folder, how deep, and how the name ends. Instead of the tag path:
    links of one list mostly have addresses of one kind. An area is the part of a host that is mostly a person's or a
    project's: two folders, or one with a person's mark; nothing if the address is not as deep.
    """
    parts = url.split("/", 3)
    host = parts[2]
    path, asks, _ = (parts[3] if len(parts) > 3 else "").partition("?")
    folders = path.split("/")
    first, name, deep = folders[0], folders[-1], len(folders)
    ending = "." if "." in name else "*" if name else ""
    if first.startswith("~"):
        area, first = f"area {host}/{first}", "~"
    elif deep > 2 or (deep == 2 and ending == "*"):
        area = f"area {host}/{first}/{folders[1]}"
    else:
        area = ""
    place = f"place {host}/{first if deep > 1 else ''}/{deep}{ending}{asks}"
    return f"host {host}", place, area


def alike(url: str) -> str:
    """An address with the same marks, one for all pages of a folder whose names do not matter: most links of a page are
    such. Nothing if the marks are this address's own."""
    folder, _, name = url.rpartition("/")
    if "?" in url or (name and ("." not in name or name.startswith("~"))):
        return ""
    return f"{folder}/." if name else url


def folder_of(url: str) -> str:
    """The folder, if a page is what most servers show for one: at its address, without the slash too, and at that of
    its first page. Else nothing."""
    folder, _, name = url.rpartition("/")
    if "." in name:
        return folder if name.lower() in _FIRST_PAGES else ""
    return ("" if "?" in url else url) if name else folder


def twins(folder: str) -> list[str]:
    """The addresses that are probably one page."""
    return [folder, f"{folder}/", *(f"{folder}/{name}" for name in _FIRST_PAGES)]


def words_of(link: Link, page: Page) -> tuple[list[str], tuple[str, ...]]:
    """The words of its anchor and its path, to be judged; and as they are counted: stems, and `~`, a person's mark."""
    return counted_words(link, page, anchor_word, path_word)


def counted_words(
    link: Link, page: Page, of_anchor: Callable[[str], T], of_path: Callable[[str], T]
) -> tuple[list[str], tuple[T, ...]]:
    """The same, for those who have other names for what is counted."""
    anchor = page.words[link.start : link.end] or (words(link.anchor) if link.anchor else [])
    path = link.url.split("/", 3)[3].lower()
    address = _plain_words(path) if path.isascii() else _address_words(path)
    if len(anchor) > MOST_WORDS or len(address) > MOST_WORDS:
        anchor, address = anchor[:MOST_WORDS], address[:MOST_WORDS]
    stems = [*filter(None, map(of_anchor, anchor))]
    counted = dict.fromkeys([*stems[:MOST_COUNTED], *map(of_path, address[:MOST_COUNTED])])
    return [*anchor, *address], tuple(counted)
