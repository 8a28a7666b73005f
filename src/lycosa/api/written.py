"""Python values as TOML, for crawl.toml and for changes to it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lycosa.types import BadInput

_bare = re.compile(r"[A-Za-z0-9_-]+").fullmatch  # keys that need no quotes


def value(given: Any, name: str) -> str:
    """One value on one line; JSON strings, numbers and booleans are valid TOML."""
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {value(item, name)}' for key, item in given.items())} }}"
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return f"[{', '.join(value(item, name) for item in given)}]"
    if isinstance(given, str | bool | int | float):
        return msgspec.json.encode(given).decode().replace("\x7f", "\\u007f")
    raise BadInput(f"{name}: {given!r} cannot be written to crawl.toml")


def document(given: Mapping[str, Any]) -> str:
    """A whole file: plain keys first, then a section for each mapping."""
    plain = [f"{name} = {value(item, name)}" for name, item in given.items() if not isinstance(item, Mapping)]
    lines = [*plain]
    for name, section in given.items():
        if isinstance(section, Mapping):
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {value(item, f'{name}.{key}')}" for key, item in section.items()]
    return "\n".join(lines) + "\n"


def write(file: Path, given: Mapping[str, Any]) -> Path:
    """Create such a file, and its parent folders."""
    if file.exists():
        raise BadInput(f"{file}: already exists")
    text = document(given)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{file}: cannot be written: {error.strerror}") from None
    return file


def overrides(changes: Mapping[str, Any]) -> list[str]:
    """Changes for one run, in the format of `--set`: section.key to value."""
    return [f"{name}={value(item, name)}" for name, item in changes.items()]


def _key(name: object) -> str:
    return str(name) if _bare(str(name)) else msgspec.json.encode(str(name)).decode()
