"""Wrappers around parts from other packages, which name the plug-in when it fails."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lycosa.fetch.http import Http
from lycosa.plugins import Plugins
from lycosa.seeds.engines import EngineFailure
from lycosa.types import BadInput, Layer, Link, Reply, Visit


class Outlets:
    """The sinks named in `[store] sinks`. If one fails, the crawl ends between two turns, so that no turn is left
    incomplete."""

    def __init__(self, kinds: Plugins, names: Sequence[str], stop: Callable[[str], None]) -> None:
        self._kinds = kinds
        self._stop = stop
        self._sinks = {name: kinds.make(name) for name in dict.fromkeys(names)}
        self._opened: list[str] = []
        self.failure: BadInput | None = None

    def open(self, folder: Path) -> None:
        for name, sink in self._sinks.items():
            if hasattr(sink, "open"):
                with self._kinds.blaming(name, "open"):
                    sink.open(folder)
            self._opened.append(name)

    def write(self, visit: Visit) -> None:
        if self.failure:
            return
        for name, sink in self._sinks.items():
            try:
                with self._kinds.blaming(name, "write"):
                    sink.write(visit)
            except BadInput as error:
                self.failure = error
                self._stop(f"the sink {name!r} failed")
                return

    def close(self) -> None:
        """Close all of them, then raise the first error."""
        opened, self._opened = self._opened, []
        for name in opened:
            if hasattr(self._sinks[name], "close"):
                try:
                    with self._kinds.blaming(name, "close"):
                        self._sinks[name].close()
                except BadInput as error:
                    self.failure = self.failure or error
        if self.failure:
            raise self.failure


class Layers:
    """The layers named in `[fetch] layers`, outermost first, around plain HTTP.

    Retries, robots.txt and redirects are handled outside of them: a layer only sees requests that are allowed. A
    robots.txt itself is never fetched through a layer.
    """

    def __init__(self, http: Http, kinds: Plugins, names: Sequence[str]) -> None:
        self._http = http
        self._kinds = kinds
        self._names = list(dict.fromkeys(names))
        self._outer: Layer = http
        for name in reversed(self._names):
            self._outer = _Layer(kinds, name, kinds.make(name, self._outer))

    async def fetch(self, link: Link, accept: tuple[str, ...] = (), most: int = 0) -> Reply:
        if accept or most:
            return await self._http.fetch(link, accept, most)
        return await self._outer.fetch(link)


class _Layer:
    def __init__(self, kinds: Plugins, name: str, layer: Layer) -> None:
        self._kinds = kinds
        self._name = name
        self._layer = layer

    async def fetch(self, link: Link) -> Reply:
        with self._kinds.blaming(self._name, "fetch"):
            reply = await self._layer.fetch(link)
        if not isinstance(reply, Reply) or reply.link.url != link.url:
            what = "another link's reply" if isinstance(reply, Reply) else type(reply).__name__
            raise self._kinds.error(self._name, f"fetch: returned {what} for {link.url}")
        return reply


class PluggedEngine:
    """A search engine; every exception it raises counts as a failed query, after which the engine rests."""

    def __init__(self, kinds: Plugins, name: str, engine: Any) -> None:
        self._kinds = kinds
        self._name = name
        self._engine = engine

    async def open(self) -> None:
        if hasattr(self._engine, "open"):
            with self._kinds.blaming(self._name, "open"):
                await self._engine.open()

    async def search(self, query: str, site: str, k: int) -> list[str]:
        try:
            found = await self._engine.search(query, site, k)
            return [url for url in found if isinstance(url, str)][:k]
        except EngineFailure:
            raise
        except Exception as error:
            raise EngineFailure(f"{type(error).__name__}: {error}"[:200]) from error

    async def close(self) -> None:
        if hasattr(self._engine, "close"):
            with self._kinds.blaming(self._name, "close"):
                await self._engine.close()
