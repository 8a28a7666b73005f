"""Blocking functions that run an event loop, for callers that may already have one running, such as notebooks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def blocking(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function that runs its own event loop callable anywhere: two loops cannot share a thread, so if one is
    already running the function runs in another thread. Either way the call returns when the work is done."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        if not _is_running():
            return function(*arguments, **options)
        with ThreadPoolExecutor(1, "lycosa") as thread:
            return thread.submit(function, *arguments, **options).result()

    return call


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
