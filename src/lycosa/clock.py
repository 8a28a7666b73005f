"""The wall's clock, in the form the crawler asks for."""

import asyncio
import time
from collections.abc import Callable

from lycosa.types import Timer


class WallClock:
    """Seconds since the epoch, so that a rest survives a restart; a call is made when its moment has come."""

    def now(self) -> float:
        return time.time()

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, when - time.time()), call)
