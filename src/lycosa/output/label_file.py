"""Labels as a file: TSV with a URL and yes or no in each line, or JSONL with all that is known of each label."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from lycosa import urls
from lycosa.store.labels import CHOSEN, Label
from lycosa.types import BadInput

_ANSWERS = {"yes": True, "no": False}


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a JSONL file."""

    url: str
    on_topic: bool
    at: float = 0.0
    chosen: str = "import"


def write_labels(path: Path, found: Iterable[Label]) -> None:
    is_json = _is_json(path)
    lines = [
        msgspec.json.encode(Line(*label)).decode() if is_json else f"{label.url}\t{'yes' if label.on_topic else 'no'}"
        for label in found
    ]
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def read_labels(path: Path) -> list[Label]:
    """All of them, in the order of the file; the first line that cannot be used is named. A URL may come twice only if
    both lines agree."""
    is_json, found = _is_json(path), dict[str, Label]()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not text in UTF-8") from None
    for number, line in _lines(text):
        try:
            label = _from_json(line) if is_json else _from_tsv(line)
        except ValueError as error:
            raise BadInput(f"{path}, line {number}: {error}") from None
        if label.url in found and found[label.url].on_topic != label.on_topic:
            raise BadInput(f"{path}, line {number}: {label.url} was labelled differently before")
        found[label.url] = label
    if not found:
        raise BadInput(f"{path}: no labels in it")
    return [*found.values()]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.rstrip("\r")


def _from_tsv(line: str) -> Label:
    url, tab, answer = line.partition("\t")
    if not tab or answer.strip().lower() not in _ANSWERS:
        raise ValueError("expected a URL, a tab, and yes or no")
    return Label(_url(url), _ANSWERS[answer.strip().lower()], 0.0, "import")


def _from_json(line: str) -> Label:
    try:
        found = msgspec.json.decode(line, type=Line)
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a label: {error}") from None
    if found.chosen not in CHOSEN:
        raise ValueError(f"chosen is {found.chosen!r}, not one of {', '.join(CHOSEN)}")
    return Label(_url(found.url), found.on_topic, found.at, found.chosen)


def _url(text: str) -> str:
    if not (url := urls.from_person(text)):
        raise ValueError(f"{text[:200]!r} is not a web URL")
    return url


def _is_json(path: Path) -> bool:
    if path.suffix not in (".tsv", ".jsonl"):
        raise BadInput(f"{path}: the name must end in .tsv or .jsonl")
    return path.suffix == ".jsonl"
