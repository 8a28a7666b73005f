"""Labelled pages as term counts, from a folder with one sub-folder per label, or a WARC with a label file."""

import logging
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from lycosa.errors import ConfigError
from lycosa.judge.features import Fields, count
from lycosa.judge.sparse import Rows
from lycosa.text import STEMS, words
from lycosa.types import BadInput, Page
from lycosa.urls import canonical

ReadPages = Callable[[Path], Iterable[tuple[str, Page]]]  # reads names and pages from a folder or a WARC
_SHOWN = 5  # names in a message

_log = logging.getLogger(__name__)


@dataclass
class Corpus:
    """Labelled pages, reduced at once to their term counts, so that a hundred thousand of them fit in memory."""

    fields: Fields
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # pages without words, or without a label
    terms: dict[str, int] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    _starts: "array[int]" = field(default_factory=lambda: array("q", [0]))
    _columns: "array[int]" = field(default_factory=lambda: array("i"))
    _counts: "array[int]" = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, label: str, page: Page) -> None:
        if not label or not (page.words or page.title):
            self.skipped.append(name)
            return
        found = count(page, self.fields)
        self.words.update(page.words)
        self.words.update(words(page.title))
        self.names.append(name)
        self.labels.append(label)
        self._columns.extend(self.terms.setdefault(term, len(self.terms)) for term in found)
        self._counts.extend(found.values())
        self._starts.append(len(self._columns))

    def rows(self) -> Rows:
        """Return the term counts, one row per page."""
        starts, columns = np.array(self._starts, np.int64), np.array(self._columns, np.int32)
        return Rows(starts, columns, np.array(self._counts, np.int32), len(self.terms))

    def readable(self) -> dict[str, str]:
        """Return, for each stem, the word it most often came from."""
        found: dict[str, str] = {}
        for word, _ in self.words.most_common():
            found.setdefault(STEMS[word], word)
        return found


class Source(NamedTuple):
    """Where labelled pages are: a folder with one sub-folder per label, or a WARC and its label file."""

    pages: Path
    labels: Path | None = None


def sources(folder: Path, examples: str | list[str], labels: str | list[str]) -> list[Source]:
    """Return what a topic's `examples` and `labels` name, relative to the crawl folder; all of it must exist."""
    names, label_names = as_list(examples), as_list(labels)
    if not names:
        raise ConfigError("topic.examples", "give a folder with one sub-folder per label, or a WARC")
    found = [Source(_find(folder, name, "examples")) for name in names]
    warcs = [place for place, source in enumerate(found) if not source.pages.is_dir()]
    if len(warcs) != len(label_names):
        raise ConfigError(
            "topic.labels",
            f"{len(label_names)} files of labels for {len(warcs)} WARCs in examples;"
            " each WARC needs one (lines of url<TAB>label), a folder needs none",
        )
    for place, name in zip(warcs, label_names, strict=True):
        found[place] = found[place]._replace(labels=_find(folder, name, "labels"))
    return found


def _find(folder: Path, name: str, key: str) -> Path:
    if not (folder / name).exists():
        raise ConfigError(f"topic.{key}", f"there is no {name!r} in {folder}")
    return folder / name


def labelled_pages(source: Source, read: ReadPages, nested: bool) -> Iterator[tuple[str, str, Page]]:
    """Yield name, label and page. In a folder the label is the sub-folder or, if `nested`, the dotted path."""
    if source.labels is None:
        for name, page in read(source.pages):
            *parents, _ = name.split("/")
            yield name, ".".join(parents if nested else parents[:1]), page
        return
    labels = read_labels(source.labels)
    missing = set(labels)
    for url, page in read(source.pages):
        address = canonical(url)
        if address in missing:  # a page recorded twice counts once
            missing.discard(address)
            yield url, labels[address], page
    if missing:
        _log.warning("%s: %s have no page in %s", source.labels, _some(missing, "URLs"), source.pages.name)


def read_corpus(found: Sequence[Source], fields: Fields, read: ReadPages, nested: bool = False) -> Corpus:
    """Read all labelled pages that have words; the others are listed as skipped."""
    corpus = Corpus(fields)
    for source in found:
        for name, label, page in labelled_pages(source, read, nested):
            corpus.add(name, label, page)
    if corpus.skipped:
        _log.warning("skipped %s without words or label", _some(corpus.skipped, "pages"))
    return corpus


def _some(names: Collection[str], kind: str) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN])
    return f"{len(names)} {kind} ({shown}{', ...' if len(names) > _SHOWN else ''})"


def read_labels(path: Path) -> dict[str, str]:
    """Read labels by page URL: one `url<TAB>label` per line."""
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        url, tab, label = line.partition("\t")
        address, label = canonical(url), label.strip()
        if not (tab and address and label) or "\t" in label:
            raise BadInput(f"{path}, line {number}: not url<TAB>label: {line[:60]!r}")
        found[address] = label
    return found


def as_list(value: str | list[str]) -> list[str]:
    """Normalise an option that takes one name or several."""
    return [value] if isinstance(value, str) and value else list(value)


def digest(found: Iterable[Source]) -> str:
    """Return a digest of the files' contents, independent of their location and modification time."""
    check = xxhash.xxh3_128()
    for path in (path for source in found for path in source if path):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.name.startswith("."):
                check.update(f"\0{file.relative_to(path).as_posix()}\0".encode())
                with file.open("rb") as stream:
                    while block := stream.read(1 << 20):
                        check.update(block)
    return check.hexdigest()
