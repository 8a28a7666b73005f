"""What the browser asks for in a query string or a form, checked; bad values are one clear line."""

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from lycosa.errors import BadInput
from lycosa.store.browse import Cursor

_AGO = {"hour": 3_600.0, "day": 86_400.0, "week": 7 * 86_400.0}
_MOST = 1_000  # characters of any value


def text(given: Mapping[str, Any], name: str) -> str:
    return str(given.get(name, "")).strip()[:_MOST]


def one_of(given: Mapping[str, Any], name: str, allowed: Sequence[str]) -> Any:
    """One of the values, the first if none is given."""
    value = text(given, name)
    if value and value not in allowed:
        raise BadInput(f"{name}: {value[:40]!r} is not one of {', '.join(filter(None, allowed))}")
    return value or allowed[0]


def number(given: Mapping[str, Any], name: str, default: int, most: int) -> int:
    value = text(given, name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit()) or int(value[:18]) > most:
        raise BadInput(f"{name}: {value[:40]!r} is not a number from 0 to {most:,}")
    return int(value)


def moment(given: Mapping[str, Any], name: str) -> float | None:
    """A time: hour, day or week (ago), seconds since the epoch, or a date with or without a time of day."""
    value = text(given, name)
    if not value:
        return None
    if value in _AGO:
        return time.time() - _AGO[value]
    try:
        return float(value) if value.replace(".", "", 1).isdigit() else datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        raise BadInput(f"{name}: {value[:40]!r} is not a time; write 2026-01-31 or 2026-01-31T12:00") from None


def cursor(given: Mapping[str, Any]) -> Cursor | None:
    value = text(given, "after")
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(value), type=Cursor) if value else None
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise BadInput("after: not the end of a list that the console has shown") from None


def encoded(after: Cursor | None) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(after)).decode() if after else ""


def query_string(given: Mapping[str, Any], **changes: str) -> str:
    """The same question with some values replaced; empty ones are left out."""
    values = {name: str(value) for name, value in {**given, **changes}.items() if value not in ("", None)}
    return f"?{urlencode(values)}" if values else "?"
