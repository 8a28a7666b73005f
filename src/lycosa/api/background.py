"""An event loop in a thread of its own: async work for callers that are not async, or whose own loop is busy."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")


class Background:
    """While the context is open, coroutines can be run in the thread's loop; at its end none of them is left."""

    def __enter__(self) -> "Background":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lycosa", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):  # whoever presses Ctrl-C twice waits all the same: it is short
            asyncio.run_coroutine_threadsafe(_settle(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for the result. An interrupt cancels the work before it is raised here."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise


async def _settle() -> None:
    """Cancel what still runs, and wait until it has cleaned up."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


def in_background(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, whether or not this thread has a running loop."""
    with Background() as loop:
        return loop.run(work)


def iterate(items: AsyncGenerator[Item, None]) -> Iterator[Item]:
    """An async generator as a plain one. Its work goes on in the background between two items."""
    with Background() as loop:
        try:
            while True:
                try:
                    item = loop.run(anext(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            loop.run(items.aclose())
