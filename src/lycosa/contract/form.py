"""Checks shared by all parts that are configured in crawl.toml and may learn."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from lycosa.types import Stateful


def check_form(make: Callable[[], Any], methods: Sequence[str]) -> None:
    """The keys in crawl.toml are the fields of a dataclass."""
    part = make()
    name = type(part).__name__
    assert dataclasses.is_dataclass(part), f"{name} is not a dataclass, so crawl.toml cannot set its fields"
    for field in dataclasses.fields(part):
        has_default = dataclasses.MISSING is not field.default or dataclasses.MISSING is not field.default_factory
        assert field.init or has_default, f"{name}.{field.name} is learned state, so it needs a default"
    for method in methods:
        assert callable(getattr(part, method, None)), f"{name} has no method {method}"
    both = callable(getattr(part, "save", None)), callable(getattr(part, "load", None))
    assert both[0] == both[1], f"{name} has only one of save and load"
    assert make() is not part, f"make() must return a new {name} each time"


def hand_over(before: object, after: object) -> str:
    """Simulate a restart: save the learned state and load it. Returns a phrase for error messages."""
    if not isinstance(before, Stateful):
        return "without save and load"
    assert isinstance(after, Stateful)
    state = before.save()
    assert isinstance(state, dict), f"save() returned a {type(state).__name__}, not a dict"
    plain = msgspec.json.decode(msgspec.json.encode(state))
    after.load(plain)
    assert msgspec.json.decode(msgspec.json.encode(after.save())) == plain, (
        "load() does not restore what save() returned"
    )
    return "what save() returned"
