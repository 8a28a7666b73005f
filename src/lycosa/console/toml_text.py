"""Change keys in the text of a crawl.toml as a person would: the rest, comments included, stays as it is."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from lycosa.api.written import value
from lycosa.errors import BadInput

_header = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(#.*)?$").match
_any_header = re.compile(r"\s*\[").match


class _Statement(NamedTuple):
    """Some lines of a section: a key with its value, or lines without any."""

    start: int
    end: int
    keys: list[str]


def with_values(text: str, section: str, changes: Mapping[str, Any]) -> str:
    """The text with these keys of a section set; a table among them becomes a section of its own, or stays where it
    is written as a value."""
    raw = tomllib.loads(text)
    target = raw.setdefault(section, {})
    lines = text.splitlines()
    for key, item in changes.items():
        if isinstance(item, Mapping):
            target[key] = {**target.get(key, {}), **item}
            _set_table(lines, section, key, item, target[key])
        else:
            target[key] = item
            _set(lines, section, key, item)
    changed = "\n".join(lines) + "\n"
    try:
        if tomllib.loads(changed) == raw:
            return changed
    except tomllib.TOMLDecodeError:
        pass
    raise BadInput(f"crawl.toml: [{section}] is written in a way that cannot be changed here; change it by hand")


def _set_table(lines: list[str], section: str, key: str, item: Mapping[str, Any], whole: Mapping[str, Any]) -> None:
    own = f"{section}.{key}"
    if any(key in statement.keys for statement in _statements(lines, section)):
        _set(lines, section, key, whole)
        return
    if not _place(lines, own):
        end = _end(lines, section)
        lines[end:end] = [f"[{own}]"]
    for name, one in item.items():
        _set(lines, own, name, one)


def _set(lines: list[str], section: str, key: str, item: Any) -> None:
    written = f"{key} = {value(item, f'{section}.{key}')}"
    for one in _statements(lines, section):
        if key in one.keys:
            comment = _comment(lines[one.start]) if one.end == one.start + 1 else ""
            lines[one.start : one.end] = [f"{written}{comment}"]
            return
    end = _end(lines, section)
    lines[end:end] = [written]


def _statements(lines: list[str], section: str) -> list[_Statement]:
    """What a section consists of; values may span several lines."""
    found, at = list[_Statement](), _place(lines, section)
    while at and at < len(lines) and not _any_header(lines[at]):
        end, keys = at + 1, None
        while keys is None and end <= len(lines):
            try:
                keys = [*tomllib.loads("\n".join(lines[at:end]))]
            except tomllib.TOMLDecodeError:
                end += 1
        found.append(_Statement(at, end, keys or []))
        at = end
    return found


def _place(lines: list[str], section: str) -> int:
    """The number of the line after the header of a section; 0 if there is none."""
    return next((at + 1 for at, line in enumerate(lines) if (found := _header(line)) and found[1] == section), 0)


def _end(lines: list[str], section: str) -> int:
    """Where another key of a section is written: after its last one."""
    return max((one.end for one in _statements(lines, section) if one.keys), default=_place(lines, section))


def _comment(line: str) -> str:
    """The comment behind a value on one line, with the spaces before it."""
    whole = tomllib.loads(line)
    for at, char in enumerate(line):
        if char == "#":
            try:
                if tomllib.loads(line[:at]) == whole:
                    return line[len(line[:at].rstrip()) :]
            except tomllib.TOMLDecodeError:
                continue
    return ""
