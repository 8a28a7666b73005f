"""WARCs as other crawlers write them, and the recorded webs if they are at hand."""

import gzip
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from lycosa.lab.recorded import RecordedWeb


class Warcs:
    """Writes small recordings into a folder, byte for byte as told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def http(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
        """An answer; underscores in header names mean hyphens, an empty value leaves the header out."""
        given = {"Content-Type": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
        return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body

    def moved(self, location: str) -> bytes:
        return self.http(b"", "301 Moved Permanently", Content_Type="", Location=location)

    @staticmethod
    def record(url: str, block: bytes, kind: str = "response", **fields: str) -> bytes:
        given = {
            "WARC-Type": kind,
            "WARC-Target-URI": url,
            "WARC-Date": "2020-01-01T00:00:00Z",
            "WARC-Record-ID": f"<urn:test:{kind}:{url}>",
            "Content-Type": "application/http; msgtype=response",
            "Content-Length": str(len(block)),
            **{name.replace("_", "-"): value for name, value in fields.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"

    def write(self, name: str, *records: bytes) -> Path:
        """Record by record if the name ends in .gz, else plain."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = name.endswith(".gz")
        path.write_bytes(b"".join(gzip.compress(one, mtime=0) if packed else one for one in records))
        return path

    def pages(self, name: str, pages: Mapping[str, bytes | str]) -> Path:
        """Bytes are a whole answer, text is the body of an HTML page."""
        blocks = {url: self.http(page.encode()) if isinstance(page, str) else page for url, page in pages.items()}
        return self.write(name, *(self.record(url, block) for url, block in blocks.items()))

    def web(self, pages: Mapping[str, bytes | str], name: str = "web.warc.gz") -> RecordedWeb:
        return RecordedWeb(self.pages(name, pages)).open()


@pytest.fixture
def warcs(tmp_path: Path) -> Warcs:
    return Warcs(tmp_path)


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where indexes go, empty for each test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "lycosa"


@pytest.fixture(scope="session")
def webs() -> Path:
    """The folder of recorded webs."""
    folder = Path(os.environ.get("LYCOSA_WEBS") or Path(__file__).parents[3] / "shared" / "webs")
    if not (folder / "webkb-texas.warc.gz").exists():
        pytest.skip("needs the recorded webs: set LYCOSA_WEBS to their folder")
    return folder


@pytest.fixture(scope="session")
def texas(webs: Path) -> RecordedWeb:
    """A real web of 817 pages."""
    return RecordedWeb(webs / "webkb-texas.warc.gz").open()
