"""Checks for parsers."""

from collections.abc import Callable

from lycosa.text import words
from lycosa.types import Link, Page, Parser, Reply
from lycosa.urls import canonical

URL = "http://a.example/folder/document"


def check_parser(make: Callable[[], Parser], content_type: str, body: bytes) -> None:
    """Run all checks. `make` returns a new parser; `body` is a document of the content type with some words in it."""
    page = make().parse(reply_of(content_type, body))
    check_page(page)
    assert page.words or page.listed, "nothing was extracted from the document: neither words nor URLs"
    assert make().parse(reply_of(content_type, body)) == page, "parsing the same document twice gives different results"
    check_damaged(make(), content_type, body)


def check_page(page: Page) -> None:
    """A page has its URL, words that match its text, and links that can be queued."""
    assert isinstance(page, Page), f"parse() returned a {type(page).__name__}, not a Page"
    assert page.url == URL, f"the page has the URL {page.url!r}, but the reply came from {URL}"
    for word in page.words:
        assert words(word) == [word], f"{word!r} is not a word as returned by lycosa.text.words()"
    assert bool(page.words) == bool(words(page.text)), "words and text do not match: use lycosa.text.words(text)"
    found = [link.url for link in [*page.links, *page.listed]]
    assert len(set(found)) == len(found), "the same URL occurs twice: there must be one link per URL"
    for link in [*page.links, *page.listed]:
        assert canonical(link.url) == link.url, f"{link.url!r} is not canonical: use lycosa.urls.canonical or Base.join"
    for link in page.links:
        assert link.source == URL, f"{link.url}: its source is {link.source!r}, not the page"
        assert link.depth == 3, f"{link.url}: its depth is {link.depth}, not that of the page plus 1"
        assert 0 <= link.start <= link.end <= len(page.words), f"{link.url}: its anchor is not among the words"


def check_damaged(parser: Parser, content_type: str, body: bytes) -> None:
    """The Web sends anything: whatever cannot be read must be a ValueError."""
    half = len(body) // 2
    damaged = [b"", b"\0" * 100, body[:half], body[half:], body[::-1], bytes(range(256)) * 4, body[:half] + b"\xff\0<"]
    for broken in damaged:
        try:
            check_page(parser.parse(reply_of(content_type, broken)))
        except ValueError:
            continue
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for a damaged document, not a ValueError: {error}") from error


def reply_of(content_type: str, body: bytes) -> Reply:
    link = Link(URL, "http://a.example/", "document", 2)
    return Reply(link, url=URL, status=200, content_type=content_type, body=body, at=5.0)
