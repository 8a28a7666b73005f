"""What is known about a link before it is fetched: its words, the kind of its address, other URLs of its page."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from lycosa.text import STEMS, words
from lycosa.types import Link, Page
from lycosa.url_words import long_words_of, path_of

T = TypeVar("T")
MOST_WORDS = 12  # per link: a URL or an anchor of a hundred words says no more
MOST_COUNTED = 6  # of each
_FIRST_PAGES = ("index.html", "index.htm", "index.php", "default.htm", "default.asp", "default.aspx")
_PAGES, _LONGEST = (".html", ".htm", ".php"), max(map(len, _FIRST_PAGES))


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


def folder_of(url: str) -> str:
    """Return the folder if the URL is one that most servers answer with the folder's page: with or without the slash,
    or its index page. Otherwise empty."""
    if url.endswith(_PAGES) and not url[-_LONGEST:].lower().endswith(_FIRST_PAGES):
        return ""  # like most
    folder, _, name = url.rpartition("/")
    if "." in name:
        return folder if name.lower() in _FIRST_PAGES else ""
    return ("" if "?" in url else url) if name else folder


def levels_down(url: str) -> int:
    """Return how far a URL is below the root of its host: folders, the name unless it is the page of its folder, and a
    query."""
    path, asks, _ = url.split("/", 3)[3].partition("?")
    names = [name for name in path.split("/") if name]
    if names and names[-1].lower() in _FIRST_PAGES:
        names.pop()
    return len(names) + bool(asks)


def twins(folder: str) -> list[str]:
    """Return the URLs that are probably the same page."""
    return [folder, f"{folder}/", *(f"{folder}/{name}" for name in _FIRST_PAGES)]


def words_of(link: Link, page: Page) -> tuple[list[str], Sequence[str]]:
    """Return the words of anchor and path, to be judged; and to be counted: stems, and `~` for a person's pages."""
    ((anchor, address),) = split_words(page, [link])
    return [*anchor, *address], counted_words(anchor, address, anchor_word, path_word)


def split_words(page: Page, links: Iterable[Link]) -> list[tuple[Sequence[str], list[str]]]:
    """Return the words of anchor and path of many links of a page."""
    text, found = page.words, list[tuple[Sequence[str], list[str]]]()
    for link in links:
        anchor = text[link.start : link.end] or (words(link.anchor) if link.anchor else [])
        address = long_words_of(path_of(link.url))
        if len(anchor) > MOST_WORDS or len(address) > MOST_WORDS:
            anchor, address = anchor[:MOST_WORDS], address[:MOST_WORDS]
        found.append((anchor, address))
    return found


def counted_words(
    anchor: Sequence[str], address: Sequence[str], of_anchor: Callable[[str], T], of_path: Callable[[str], T]
) -> Sequence[T]:
    """Return what a link is counted under, for callers with their own names for words."""
    stems = [*filter(None, map(of_anchor, anchor))]
    names = [*stems[:MOST_COUNTED], *map(of_path, address[:MOST_COUNTED])]
    # words are rarely repeated, and a set is three times as fast as a dict
    return names if len({*names}) == len(names) else [*dict.fromkeys(names)]
