"""An event loop in a separate thread: async work for callers that are not async, or that already run a loop."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")


class Background:
    """While the context is open, coroutines can be run in the thread's loop; when it closes, none is left running."""

    def __enter__(self) -> "Background":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lycosa", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C does not shorten this: it does not take long
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
    """Cancel whatever is still running, and wait until it has cleaned up."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


def in_background(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to completion, whether or not this thread has a running loop."""
    with Background() as loop:
        return loop.run(work)


def iterate(items: AsyncGenerator[Item, None]) -> Iterator[Item]:
    """An async generator as a plain one. It keeps working in the background between two items."""
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
