"""Search engines behind one question: which URLs for this query, inside this site, at most k?

An engine answers or raises EngineFailure; who asks, how often and what happens then is the ledger's business.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Protocol
from urllib.parse import quote

import aiohttp
import msgspec
from msgspec import Meta, Struct
from yarl import URL

from lycosa import urls
from lycosa.config import Positive, Seconds, Whole
from lycosa.errors import ConfigError
from lycosa.text import words
from lycosa.types import Page

ENGINES = ("local", "searxng", "template")


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """The [search] section: whom to ask for more links when the frontier runs dry, and how often."""

    engine: str = ""  # one of ENGINES, or of another package; empty: no search
    url: str = ""  # searxng: its address; template: any address with {query}, {site}, {k}
    path: str = "results[].url"  # template: where the URLs stand in the JSON answer
    headers: dict[str, str] = {}  # sent with each query, as an engine's key
    pages: str = ""  # local: a folder of pages or a WARC that is searched
    site: str = ""  # restrict queries to it; empty: to the only domain or host of the scope, if it has just one
    alpha: Positive = 10  # decreases in a row that start a search
    queries_per_page: Positive = 10
    results: Annotated[int, Meta(ge=1, le=100)] = 10
    min_words: Positive = 1  # of a piece of a title
    per_day: Whole = 1_000  # queries; 0: no limit
    delay_s: Seconds = 1.0  # between two queries
    timeout_s: Seconds = 10.0
    max_bytes: Positive = 2_000_000  # of an answer
    backoff_s: Seconds = 60.0  # after a failure, doubled with each further one
    rest_after: Positive = 5  # failures in a row
    rest_s: Seconds = 3_600.0  # how long an engine is left alone then
    proxy: str = ""


class EngineFailure(Exception):
    """No answer that could be used; `wait_s`: the engine asked to be left alone so long."""

    def __init__(self, kind: str, wait_s: float = 0.0) -> None:
        super().__init__(kind)
        self.wait_s = wait_s


class Engine(Protocol):
    async def open(self) -> None: ...
    async def search(self, query: str, site: str, k: int) -> list[str]: ...
    async def close(self) -> None: ...


class JsonEngine:
    """Any engine that answers a GET with JSON: the address is a template, the URLs stand at a path in the answer."""

    def __init__(self, template: str, path: str, rules: Search, user_agent: str) -> None:
        self.template = template
        self.path = path
        self.rules = rules
        self.user_agent = user_agent

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self.user_agent, "Accept": "application/json", **self.rules.headers},
            timeout=aiohttp.ClientTimeout(total=self.rules.timeout_s or None),
        )

    async def close(self) -> None:
        await self._session.close()

    async def search(self, query: str, site: str, k: int) -> list[str]:
        try:
            body = await self._ask(URL(self.address(query, site, k), encoded=True))
        except TimeoutError:
            raise EngineFailure("timeout") from None
        except (aiohttp.ClientError, aiohttp.http.HttpProcessingError, OSError, ValueError) as error:
            raise EngineFailure(f"{type(error).__name__}: {error}"[:200]) from None
        try:
            return list(dict.fromkeys(_at(msgspec.json.decode(body), self.path)))[:k]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise EngineFailure("the answer is no JSON") from None

    def address(self, query: str, site: str, k: int) -> str:
        """Where `{site}` has no place of its own, the query says it as people do."""
        if site and "{site}" not in self.template:
            query = f"{query} site:{site}"
        values = {"{query}": quote(query, safe=""), "{site}": quote(site, safe=""), "{k}": str(k)}
        return re.sub(r"\{(?:query|site|k)\}", lambda found: values[found[0]], self.template)

    async def _ask(self, url: URL) -> bytes:
        """Redirects are not followed: an engine that moved is a matter for the user."""
        async with self._session.get(url, allow_redirects=False, proxy=self.rules.proxy or None) as answer:
            if answer.status != 200:
                wait = answer.headers.get("Retry-After", "")
                raise EngineFailure(f"http-{answer.status}", float(wait[:9]) if wait.isdecimal() else 0.0)
            body = bytearray()
            while chunk := await answer.content.readany():
                body += chunk
                if len(body) > self.rules.max_bytes:
                    answer.close()
                    raise EngineFailure(f"the answer is larger than {self.rules.max_bytes} bytes")
            return bytes(body)


def _at(value: Any, path: str) -> Iterator[str]:
    """The strings at a path like `items[].link`: names with dots between them, [] for each of a list."""
    if not path:
        if isinstance(value, str):
            yield value
        return
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    if name:
        value = value.get(name) if isinstance(value, dict) else None
    for item in (value if isinstance(value, list) else ()) if head.endswith("[]") else (value,):
        yield from _at(item, rest)


ReadPages = Callable[[Path], Iterable[tuple[str, Page]]]


class LocalEngine:
    """Full-text search over pages that lie on disk: for tests, and for the lab, whose recorded webs no engine knows."""

    def __init__(self, pages: Path, read_pages: ReadPages) -> None:
        self.pages = pages
        self._read_pages = read_pages

    async def open(self) -> None:
        try:
            import tantivy
        except ImportError:
            raise ConfigError("search.engine", "the local engine needs tantivy: pip install 'lycosa[search]'") from None
        schema = tantivy.SchemaBuilder().add_text_field("url", stored=True, tokenizer_name="raw")
        for name in ("title", "text"):
            schema = schema.add_text_field(name, tokenizer_name="en_stem")
        self._index = tantivy.Index(schema.add_text_field("site", tokenizer_name="raw").build())
        writer = self._index.writer(50_000_000, num_threads=1)  # one thread: the order of equals is always the same
        for url, page in self._read_pages(self.pages):
            sites = list(_sites(urls.hostname(url))) if "://" in url else []
            writer.add_document(tantivy.Document(url=url, title=page.title, text=page.text, site=sites))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    async def search(self, query: str, site: str, k: int) -> list[str]:
        """Pages with all words of the query, the best first."""
        terms = words(query)  # no signs are left, so nothing reads as an operator
        if not terms:
            return []
        wanted = self._index.parse_query(" ".join(terms), ["title", "text"], conjunction_by_default=True)
        if site:
            from tantivy import Occur, Query

            inside = Query.const_score_query(Query.term_query(self._index.schema, "site", site), 0.0)
            wanted = Query.boolean_query([(Occur.Must, wanted), (Occur.Must, inside)])
        searcher = self._index.searcher()
        return [str(searcher.doc(address)["url"][0]) for _, address in searcher.search(wanted, k).hits]

    async def close(self) -> None:
        del self._index


def _sites(host: str) -> Iterator[str]:
    """The host and every domain it lies in."""
    yield host
    while "." in host:
        host = host.partition(".")[2]
        yield host


def make_engine(rules: Search, user_agent: str, folder: Path, read_pages: ReadPages) -> Engine:
    """The engine that the [search] section names."""
    if rules.engine == "local":
        if not rules.pages:
            raise ConfigError("search.pages", "the local engine needs a folder of pages or a WARC")
        return LocalEngine(folder / rules.pages, read_pages)
    if not urls.canonical(rules.url):
        raise ConfigError("search.url", f"{rules.url!r} is no web address; the engine {rules.engine} needs one")
    if rules.engine == "searxng":
        return JsonEngine(f"{rules.url.rstrip('/')}/search?q={{query}}&format=json", "results[].url", rules, user_agent)
    if "{query}" not in rules.url:
        raise ConfigError("search.url", "write {query} where the query belongs")
    if not re.fullmatch(r"(?:\[\]|[\w-]+(?:\[\])?)(?:\.[\w-]+(?:\[\])?)*", rules.path):
        raise ConfigError(
            "search.path", f"{rules.path!r} is no path; write names with dots, [] for a list: items[].link"
        )
    return JsonEngine(rules.url, rules.path, rules, user_agent)


def site_of(rules: Search, domains: list[str], hosts: list[str]) -> str:
    """Where to search: as the user says, else the only domain or host of the scope; empty: everywhere."""
    named = [*domains, *hosts]
    return rules.site or (urls.hostname(found) if len(named) == 1 and (found := urls.from_person(named[0])) else "")
