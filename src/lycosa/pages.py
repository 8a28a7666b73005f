"""Pages on disk: a folder of files, or a WARC. Topics learn from them, and `topic try` and `export` read them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lycosa.parse import Parsers, main_text
from lycosa.store.warc_reader import read_record, read_responses, to_response
from lycosa.types import BadInput, Link, Page, Reply

_HTML = {".html", ".htm", ".xhtml"}
_PLAIN = {".txt", ".text", ".md"}
_MOST_BYTES = 20_000_000
_LOOKED_AT = 8_192  # bytes used to detect the file type
_BINARY = {
    b"%PDF-": "a PDF",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a ZIP archive or office document",
    b"\x1f\x8b": "a gzip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"SQLite format 3": "a database",
}


def read_pages(path: Path) -> Iterator[tuple[str, Page]]:
    """Name and page of every HTML and text file below a folder, or URL and page of every HTML response in a WARC."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix.lower() in _HTML | _PLAIN and file.is_file():
                yield file.relative_to(path).as_posix(), read_page(file)
    elif path.name.endswith((".warc", ".warc.gz")) and path.exists():
        yield from _from_warc(path)
    elif path.exists():
        raise BadInput(f"{path}: neither a folder of pages nor a WARC (.warc, .warc.gz)")
    else:
        raise BadInput(f"{path}: there is no such folder or file")


def read_page(file: Path) -> Page:
    """One HTML or text file."""
    try:
        with file.open("rb") as opened:
            body = opened.read(_MOST_BYTES)
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error.strerror}") from None
    if file.suffix.lower() in _PLAIN:
        body = b"<pre>" + body.replace(b"&", b"&amp;").replace(b"<", b"&lt;") + b"</pre>"
    try:
        return _parse(f"file:///{file.name}", "text/html", body)
    except ValueError as error:
        raise BadInput(f"{file}: cannot be read: {error}") from None


def check_readable(file: Path) -> None:
    """Reject a file that is not text: a verdict on it would be meaningless."""
    try:
        with file.open("rb") as opened:
            start = opened.read(_LOOKED_AT)
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error.strerror}") from None
    kind = next((name for mark, name in _BINARY.items() if start.startswith(mark)), "")
    if not kind and b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16 contains zeros too
        kind = "a binary file"
    if kind:
        raise BadInput(f"{file}: {kind}, not a page; use HTML or text files, a folder of them, or a WARC (.warc.gz)")


def stored_text(warc: Path, offset: int) -> str:
    """The main text of the page stored in a WARC at an offset."""
    answer = to_response(read_record(warc, offset), offset)
    if answer.error:
        raise BadInput(f"{warc}: the page at byte {offset} is {answer.error}")
    return main_text(answer.body, answer.headers.get("content-type", ""))


def _from_warc(path: Path) -> Iterator[tuple[str, Page]]:
    for answer in read_responses(path, _MOST_BYTES):
        kind = answer.headers.get("content-type", "")
        if answer.status == 200 and "html" in kind.lower() and answer.error != "too-large":
            try:
                yield answer.url, _parse(answer.url, kind, answer.body)
            except ValueError:
                continue  # nothing can be learned from an unreadable page


def _parse(url: str, content_type: str, body: bytes) -> Page:
    return _parsers().parse(Reply(Link(url), url=url, status=200, content_type=content_type, body=body))


@cache
def _parsers() -> Parsers:
    return Parsers()
