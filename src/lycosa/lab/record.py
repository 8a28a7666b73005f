"""Turn a crawl into a recorded web: check it, count its contents, and merge its WARCs."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lycosa import urls
from lycosa.files import replacing
from lycosa.lab.index import forget_index, index_of, move_index
from lycosa.lab.recorded import RecordedWeb, warc_files
from lycosa.lab.writing import make_folder, writing
from lycosa.types import BadInput

_GZIP_START = b"\x1f\x8b"


class Recording(Struct, frozen=True):
    """The contents of a recording, in numbers."""

    files: list[str]
    bytes: int
    addresses: int
    pages: int  # HTML pages, each once
    hosts: int
    damage: list[str]  # why the rest of a file cannot be read


def check(path: Path) -> Recording:
    """Index a recording and count its contents."""
    files = warc_files(path)
    web = RecordedWeb(path).open()
    pages = web.pages()
    return Recording(
        files=[str(file) for file in files],
        bytes=sum(file.stat().st_size for file in files),
        addresses=len(web),
        pages=len(pages),
        hosts=len({urls.host(page) for page in pages}),
        damage=[damage for file in files if (damage := index_of(file).damage)],
    )


def merge(path: Path, out: Path) -> None:
    """Merge all WARCs of a recording into one file, completely or not at all. WARCs can simply be concatenated."""
    files = warc_files(path)
    _check_form(files, out)
    make_folder(out.parent)
    with writing(out), replacing(out) as part:
        try:
            _join(files, part)
            lost = len(RecordedWeb(path).open()) - len(RecordedWeb(part).open())
            if lost:
                raise BadInput(f"{path}: a damaged file cannot be merged: {lost} URLs would be lost")
            move_index(part, out)  # it names the size and time of this file, so no other can be mistaken for it
        finally:
            forget_index(part)


def _check_form(files: Sequence[Path], out: Path) -> None:
    packed = out.name.endswith(".warc.gz")
    if not packed and not out.name.endswith(".warc"):
        raise BadInput(f"{out}: the file name must end in .warc.gz or .warc")
    for file in files:
        with file.open("rb") as stream:
            if (stream.read(2) == _GZIP_START) != packed:
                raise BadInput(f"{out}: {file.name} is {'not ' * packed}compressed; choose a name with the same suffix")


def _join(files: Sequence[Path], whole: Path) -> None:
    with whole.open("wb") as target:
        for file in files:
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, target, 1 << 20)
