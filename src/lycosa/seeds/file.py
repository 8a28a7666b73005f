"""Reads seeds: URLs in crawl.toml, or in a file with one URL per line and # for comments."""

from collections.abc import Iterable
from pathlib import Path

from lycosa import urls
from lycosa.errors import ConfigError


def read_seeds(seeds: list[str] | str, folder: Path, key: str = "seeds") -> tuple[list[str], list[str]]:
    """Canonical URLs, without duplicates, and a line for each invalid seed that says where it is; `key` is the name of
    the list or file in crawl.toml."""
    if isinstance(seeds, str):
        return _sift((f"{seeds}, line {number}", text) for number, text in _lines(folder / seeds, key))
    return _sift((f"{key}[{number}]", text) for number, text in enumerate(seeds))


def _lines(path: Path, key: str) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(key, f"cannot read {path}: {reason}") from None
    lines = ((number, line.split(" #", 1)[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def _sift(named: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    good: dict[str, None] = {}
    bad: list[str] = []
    for place, text in named:
        if url := urls.from_person(text):
            good[url] = None
        else:
            bad.append(f"{place}: {text[:200]!r} is not a web URL, skipped")
    return list(good), bad
