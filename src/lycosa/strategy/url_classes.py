"""Of which class is a page, told from its URL alone? Multinomial logistic regression on the words of the path.

The host is left out: inside one domain it says nothing (Publication Spider, 2007). A model is a JSON file of weights,
so a stranger's model runs no code; `url_training.py` makes it.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp
from pathlib import Path

import msgspec

from lycosa.types import BadInput

NAME = "url.model"
FORMAT = 1
_KIND = "url-classes"
_MOST_CHARS = 300  # of a path: what comes after is noise, or a trap
_MOST_GRAMS = 16  # characters of the last segment that are taken apart; longer ones are titles
_MOST_DEPTH = 6  # deeper is as deep
_MOST_CACHED = 100_000  # menus repeat the same few links on every page of a site
_MOST_BYTES = 200_000_000
_INDEX = ("index.", "default.", "welcome.")
_SPLIT = re.compile(r"[a-z]+|[0-9]+|~").findall
_YEAR = re.compile(r"(?:19|20)[0-9]{2}").fullmatch


def tokens(url: str) -> list[str]:
    """Words, numbers and tildes behind the host, and the depth of the path."""
    rest = _rest(url)
    return [*_SPLIT(rest), f"depth={rest.rstrip('/').count('/')}"]


def features(url: str) -> list[str]:
    """The tokens; the first, the last and the one above by their place; depth, extension, grams of the last segment.

    An index page counts as its folder, and a user's name in the last place is but a tilde: ~ada/, ~ada/ada.html.
    """
    path, _, query = _rest(url).partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if segments and segments[-1].startswith(_INDEX):
        segments.pop()
        path += "/"
    name, extension = segments[-1] if segments else "", "/" if path.endswith("/") else ""
    if not extension and "." in name:
        name, _, extension = name.rpartition(".")
    words = [word for segment in segments for word in _words(segment)]  # by segment: folders repeat, and are remembered
    found = [*words, *_words(query), f"depth={min(len(segments), _MOST_DEPTH)}", f"ext={extension[:8]}"]
    found += [f"first={word}" for word in words[:1]]
    found += [f"above={word}" for word in _words(segments[-2] if len(segments) > 1 else "")[-1:]]
    if name.startswith("~") or f"/~{name}/" in path:
        found.append("last=~")
    else:
        found += [f"last={word}" for word in _words(name)[-1:]]
        edged = f"^{name[:_MOST_GRAMS]}$"
        found += [edged[at : at + 3] for at in range(len(edged) - 2)]
        found += [edged[at : at + 4] for at in range(len(edged) - 3)]
    return list(dict.fromkeys(found))  # in this order always, or sums of weights would differ in their last digits


def _rest(url: str) -> str:
    """What stands behind the host, in small letters."""
    return "/" + url.split("/", 3)[-1][:_MOST_CHARS].lower().replace("%7e", "~") if url.count("/") > 2 else ""


@lru_cache(maxsize=65_536)
def _words(text: str) -> list[str]:
    """Numbers by their length: of each there is but one, of their kind there are many."""
    return [
        word if not word[0].isdigit() else "#year" if _YEAR(word) else f"#{min(len(word), 6)}" for word in _SPLIT(text)
    ]


class UrlClasses:
    """A trained classifier: a row of weights for each feature, one column for each class."""

    def __init__(self, classes: Sequence[str], bias: Sequence[float], weights: Mapping[str, Sequence[float]]) -> None:
        self.classes = list(classes)
        self.bias = list(bias)
        self.weights = weights
        self._seen: dict[str, str] = {}

    def class_of(self, url: str) -> str:
        """The most probable class."""
        seen = self._seen
        found = seen.get(url)
        if found is None:
            sums = self._sums(url)
            found = self.classes[sums.index(max(sums))]
            if len(seen) >= _MOST_CACHED:
                seen.clear()
            seen[url] = found
        return found

    def probabilities(self, url: str) -> dict[str, float]:
        """Of every class, the most probable first."""
        sums = self._sums(url)
        parts = [exp(value - max(sums)) for value in sums]
        shares = [part / sum(parts) for part in parts]
        return dict(sorted(zip(self.classes, shares, strict=True), key=lambda item: -item[1]))

    def _sums(self, url: str) -> list[float]:
        rows = filter(None, map(self.weights.get, features(url)))
        return list(map(sum, zip(self.bias, *rows, strict=True)))


class _File(msgspec.Struct, frozen=True):
    kind: str
    format: int
    classes: list[str]
    bias: list[float]
    weights: dict[str, tuple[float, ...]]


def save(model: UrlClasses, path: Path) -> None:
    """Write the whole file or nothing."""
    plain = _File(_KIND, FORMAT, model.classes, model.bias, {name: tuple(row) for name, row in model.weights.items()})
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(msgspec.json.encode(plain))
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: Path) -> UrlClasses:
    """What was saved, or one line that says why the file is refused."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadInput(f"{path}: too large for a model of URL classes")
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a model of URL classes, or damaged: {error}") from None
    if found.kind != _KIND:
        raise BadInput(f"{path}: holds a model of kind {found.kind!r}, not {_KIND!r}")
    if found.format > FORMAT:
        raise BadInput(f"{path}: written by a newer Lycosa (format {found.format}; this one reads up to {FORMAT})")
    width = len(found.classes)
    if width < 2 or len(found.bias) != width or any(len(row) != width for row in found.weights.values()):
        raise BadInput(f"{path}: damaged: not one weight for each class")
    return UrlClasses(found.classes, found.bias, found.weights)
