"""What is known about a link before it is fetched: its words, the kind of its address, other URLs of its page."""

import re
from collections.abc import Callable
from typing import TypeVar

from lycosa.text import STEMS, words
from lycosa.types import Link, Page

T = TypeVar("T")
MOST_WORDS = 12  # per link: a URL or an anchor of a hundred words says no more
MOST_COUNTED = 6  # of each
_address_words = re.compile(r"[^\W\d_]{2,}|~").findall
_plain_words = re.compile(r"[a-z][a-z]+|~").findall  # the same for most URLs, twice as fast
_FIRST_PAGES = ("index.html", "index.htm", "index.php", "default.htm", "default.asp", "default.aspx")


def anchor_word(word: str) -> str:
    """Return the form in which an anchor word is counted; empty for an uninformative one."""
    return f"“{stem}”" if (stem := STEMS[word]) else ""


def path_word(word: str) -> str:
    return f"/{word}"


def marks_of(url: str) -> tuple[str, str, str]:
    """Return host, place and area of a URL, each prefixed with its kind, since outcomes are counted by them.

    A place is a kind of address: host, first folder, depth and how the name ends. It stands in for the tag path: links
    in one list mostly have the same kind of address. An area is the part of a host that usually belongs to one person
    or project: two folders, or one with a person's tilde; empty if the URL is not that deep.
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
    """Return a URL with the same marks that stands for all pages of a folder whose names do not matter, as for most
    links of a page. Empty if the marks are this URL's own."""
    folder, _, name = url.rpartition("/")
    if "?" in url or (name and ("." not in name or name.startswith("~"))):
        return ""
    return f"{folder}/." if name else url


def folder_of(url: str) -> str:
    """Return the folder if the URL is one that most servers answer with the folder's page: with or without the slash,
    or its index page. Otherwise empty."""
    folder, _, name = url.rpartition("/")
    if "." in name:
        return folder if name.lower() in _FIRST_PAGES else ""
    return ("" if "?" in url else url) if name else folder


def twins(folder: str) -> list[str]:
    """Return the URLs that are probably the same page."""
    return [folder, f"{folder}/", *(f"{folder}/{name}" for name in _FIRST_PAGES)]


def words_of(link: Link, page: Page) -> tuple[list[str], tuple[str, ...]]:
    """Return the words of anchor and path, to be judged; and to be counted: stems, and `~` for a person's pages."""
    return counted_words(link, page, anchor_word, path_word)


def counted_words(
    link: Link, page: Page, of_anchor: Callable[[str], T], of_path: Callable[[str], T]
) -> tuple[list[str], tuple[T, ...]]:
    """Like `words_of`, for callers with their own names for the words counted."""
    anchor = page.words[link.start : link.end] or (words(link.anchor) if link.anchor else [])
    path = link.url.split("/", 3)[3].lower()
    address = _plain_words(path) if path.isascii() else _address_words(path)
    if len(anchor) > MOST_WORDS or len(address) > MOST_WORDS:
        anchor, address = anchor[:MOST_WORDS], address[:MOST_WORDS]
    stems = [*filter(None, map(of_anchor, anchor))]
    counted = dict.fromkeys([*stems[:MOST_COUNTED], *map(of_path, address[:MOST_COUNTED])])
    return [*anchor, *address], tuple(counted)
