"""Blocking calls that run an event loop inside, for callers that may have one running already, as notebooks do."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def blocking(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that runs an event loop of its own be called anywhere: two loops cannot share a thread, so where
    one is running the call gets another thread. Either way it returns when the work is done."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return function(*arguments, **options)
        with ThreadPoolExecutor(1, "lycosa") as thread:
            return thread.submit(function, *arguments, **options).result()

    return call
