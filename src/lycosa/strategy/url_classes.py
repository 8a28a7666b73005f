"""Predict the class of a page from its URL alone: multinomial logistic regression on the words of the path.

A URL is the sum of its pieces (folder, extension, words of its name), and the contribution of each piece to each class
is computed once and cached: sites repeat their folders and words, so a new URL costs only a few look-ups. The host is
ignored, since within one domain it says nothing (Publication Spider, 2007). A model is a JSON file of weights, so that
a model from an untrusted source runs no code; `url_training.py` creates it.
"""

import re
from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path

import msgspec

from lycosa.files import unwritable, write_whole
from lycosa.types import BadInput
from lycosa.url_words import path_of, pieces_of

NAME = "url.model"
FORMAT = 2  # 1: each feature counted once, grams of the whole name
_KIND = "url-classes"
_MOST_CHARS = 300  # of a path: the rest is noise, or a trap
_MOST_GRAMS = 16  # characters of a word used for n-grams
_MOST_DEPTH = 6  # deeper levels are treated alike
_MOST_CACHED = 100_000  # menus repeat the same few links on every page of a site
_MOST_ROWS = 50_000  # folders and words repeat too
_MOST_BYTES = 200_000_000
_ROOT = "/."  # the piece for a host's root page; no folder has this name
_INDEX = ("index.", "default.", "welcome.")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}").fullmatch


def features(url: str) -> list[str]:
    """Return all features of a URL; repeated features count repeatedly."""
    return [feature for piece in pieces(url) for feature in features_of(piece)]


def pieces(url: str) -> list[str]:
    """Split a URL into pieces that mostly recur in other URLs: folder, extension, words of name and query.

    The first character of a piece is its type: `/` the folder, `.` the extension, `-` a word of the name and `$` its
    last, `^` the first word of a path without folder, `=` any other word. An index page counts as its folder, and a
    user name in the last position becomes a tilde: ~ada/, ~ada/ada.html.
    """
    path, _, query = _rest(url).partition("?")
    folder, _, name = path.rpartition("/")
    if not name or name.startswith(_INDEX):
        folder, _, name = folder.rstrip("/").rpartition("/")
        extension = "/"
    else:
        stem, _, extension = name.rpartition(".")
        name, extension = (stem, extension) if stem else (name, "")
    words = _words(name)
    found = [f"/{folder}" if name else _ROOT, f".{extension[:8]}"]
    if query:
        found += [f"={word}" for word in _words(query)]
    if name.startswith("~") or ("~" in folder and f"/~{name}/" in f"/{folder}/"):
        found += ["$~", *[f"={word}" for word in words]]
    elif words:
        found += [f"-{word}" for word in words[:-1]]
        found.append(f"${words[-1]}")
    if words and not folder:
        found.append(f"^{words[0]}")
    return found


def features_of(piece: str) -> list[str]:
    """Return the words, some also by position, the depth of a folder, and the 3- and 4-grams of words of a name."""
    sign, rest = piece[0], piece[1:]
    match sign:
        case "/":
            words = _words(rest)
            ends = [f"first={words[0]}", f"above={words[-1]}"] if words else []
            depth = 0 if piece == _ROOT else rest.count("/") + 1 + bool(rest)
            found = [*words, *ends, f"depth={min(depth, _MOST_DEPTH)}"]
        case ".":
            found = [f"ext={rest}", *_words(rest)]
        case "^":
            found = [f"first={rest}"]
        case "=":
            found = [rest]
        case "-":
            found = [rest, *_grams(rest)]
        case _:
            found = [f"last={rest}", *([rest, *_grams(rest)] if rest != "~" else [])]
    return list(dict.fromkeys(found))  # fixed order, or sums of weights would differ in their last digits


def _rest(url: str) -> str:
    """Return what follows the host and its slash, in lower case."""
    return path_of(url)[:_MOST_CHARS].replace("%7e", "~")


def _words(text: str) -> list[str]:
    """Return the words, with numbers replaced by their length: a number is unique, its length is not."""
    return [word if word > ":" else "#year" if _YEAR(word) else f"#{min(len(word), 6)}" for word in pieces_of(text)]


def _grams(word: str) -> list[str]:
    """Return the n-grams of a word of letters, including its edges: `publ` is in many words for publications."""
    if word.startswith("#"):
        return []
    edged = f"^{word[:_MOST_GRAMS]}$"
    return [edged[at : at + 3] for at in range(len(edged) - 2)] + [edged[at : at + 4] for at in range(len(edged) - 3)]


class _Rows(dict[str, Sequence[float]]):
    """A cache from pieces to their contribution to each class: summing the features is most of the cost."""

    def __init__(self, weights: Mapping[str, Sequence[float]], width: int) -> None:
        super().__init__()
        self._weights = weights
        self._nothing = (0.0,) * width

    def __missing__(self, piece: str) -> Sequence[float]:
        if len(self) >= _MOST_ROWS:
            self.clear()
        rows = list(filter(None, map(self._weights.get, features_of(piece))))
        found = self[piece] = tuple(map(sum, zip(*rows, strict=True))) if rows else self._nothing
        return found


class UrlClasses:
    """A trained classifier: a row of weights for each feature, a column for each class."""

    def __init__(self, classes: Sequence[str], bias: Sequence[float], weights: Mapping[str, Sequence[float]]) -> None:
        self.classes = list(classes)
        self.bias = list(bias)
        self.weights = weights
        self._rows = _Rows(weights, len(self.bias))
        self._seen: dict[str, str] = {}

    def class_of(self, url: str) -> str:
        """Return the most probable class."""
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
        """Return the probability of every class, the most probable first."""
        sums = self._sums(url)
        parts = [exp(value - max(sums)) for value in sums]
        shares = [part / sum(parts) for part in parts]
        return dict(sorted(zip(self.classes, shares, strict=True), key=lambda item: -item[1]))

    def _sums(self, url: str) -> list[float]:
        return list(map(sum, zip(self.bias, *map(self._rows.__getitem__, pieces(url)), strict=True)))


class _File(msgspec.Struct, frozen=True):
    kind: str
    format: int
    classes: list[str]
    bias: list[float]
    weights: dict[str, tuple[float, ...]]


def save(model: UrlClasses, path: Path) -> None:
    """Write the file atomically."""
    plain = _File(_KIND, FORMAT, model.classes, model.bias, {name: tuple(row) for name, row in model.weights.items()})
    try:
        write_whole(path, msgspec.json.encode(plain))
    except OSError as error:
        raise unwritable(path, error) from None


def load(path: Path) -> UrlClasses:
    """Load a saved model, or raise an error that says in one line why the file is rejected."""
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
    if found.format < FORMAT:
        raise BadInput(
            f"{path}: written by an older Lycosa (format {found.format}): create it again: lycosa urls train"
        )
    width = len(found.classes)
    if width < 2 or len(found.bias) != width or any(len(row) != width for row in found.weights.values()):
        raise BadInput(f"{path}: damaged: weights and classes differ in number")
    return UrlClasses(found.classes, found.bias, found.weights)
