"""Search engines behind one interface: at most k URLs for a query, restricted to a site.

An engine returns a result or raises EngineFailure; rate limits and error handling are up to the ledger.
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
    """The [search] section: which engine to query for more links when the frontier runs dry, and how often."""

    engine: str = ""  # one of ENGINES, or from another package; empty: no search
    url: str = ""  # searxng: its address; template: any address with {query}, {site}, {k}
    path: str = "results[].url"  # template: the path of the URLs in the JSON response
    headers: dict[str, str] = {}  # sent with each query, for example an API key
    pages: str = ""  # local: a folder of pages or a WARC to search
    site: str = ""  # restricts queries; empty: the domain or host of the scope, if there is exactly one
    alpha: Positive = 10  # consecutive decreases that trigger a search
    queries_per_page: Positive = 10
    results: Annotated[int, Meta(ge=1, le=100)] = 10
    min_words: Positive = 1  # minimum length of a piece of a title
    per_day: Whole = 1_000  # maximum number of queries; 0: no limit
    delay_s: Seconds = 1.0  # between two queries
    timeout_s: Seconds = 10.0
    max_bytes: Positive = 2_000_000  # per response
    backoff_s: Seconds = 60.0  # after a failure, doubled after each further one
    rest_after: Positive = 5  # consecutive failures
    rest_s: Seconds = 3_600.0  # how long an engine is then left alone
    proxy: str = ""


class EngineFailure(Exception):
    """No usable response; `wait_s`: how long the engine asked us to wait."""

    def __init__(self, kind: str, wait_s: float = 0.0) -> None:
        super().__init__(kind)
        self.wait_s = wait_s


class Engine(Protocol):
    async def open(self) -> None: ...
    async def search(self, query: str, site: str, k: int) -> list[str]: ...
    async def close(self) -> None: ...


class JsonEngine:
    """Any engine that responds to a GET with JSON: the address is a template, and the URLs are at a path in the
    response."""

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
            raise EngineFailure("the answer is not JSON") from None

    def address(self, query: str, site: str, k: int) -> str:
        """If the template has no `{site}`, the site is added to the query, as users do."""
        if site and "{site}" not in self.template:
            query = f"{query} site:{site}"
        values = {"{query}": quote(query, safe=""), "{site}": quote(site, safe=""), "{k}": str(k)}
        return re.sub(r"\{(?:query|site|k)\}", lambda found: values[found[0]], self.template)

    async def _ask(self, url: URL) -> bytes:
        """Redirects are not followed: if an engine has moved, the user must decide."""
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
    """The strings at a path such as `items[].link`: names separated by dots, [] for each element of a list."""
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
    """Full-text search over pages on disk: for tests, and for the lab, whose recorded webs no real engine has
    indexed."""

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
        writer = self._index.writer(50_000_000, num_threads=1)  # one thread: ties are always in the same order
        for url, page in self._read_pages(self.pages):
            sites = list(_sites(urls.hostname(url))) if "://" in url else []
            writer.add_document(tantivy.Document(url=url, title=page.title, text=page.text, site=sites))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    async def search(self, query: str, site: str, k: int) -> list[str]:
        """Pages that contain all words of the query, best first."""
        terms = words(query)  # punctuation is removed, so nothing is read as an operator
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
    """The host and all its parent domains."""
    yield host
    while "." in host:
        host = host.partition(".")[2]
        yield host


def make_engine(rules: Search, user_agent: str, folder: Path, read_pages: ReadPages) -> Engine:
    """The engine named in the [search] section."""
    if rules.engine == "local":
        if not rules.pages:
            raise ConfigError("search.pages", "the local engine needs a folder of pages or a WARC")
        return LocalEngine(folder / rules.pages, read_pages)
    if not urls.canonical(rules.url):
        raise ConfigError("search.url", f"{rules.url!r} is not a web address; the engine {rules.engine} needs one")
    if rules.engine == "searxng":
        return JsonEngine(f"{rules.url.rstrip('/')}/search?q={{query}}&format=json", "results[].url", rules, user_agent)
    if "{query}" not in rules.url:
        raise ConfigError("search.url", "write {query} where the query belongs")
    if not re.fullmatch(r"(?:\[\]|[\w-]+(?:\[\])?)(?:\.[\w-]+(?:\[\])?)*", rules.path):
        raise ConfigError(
            "search.path", f"{rules.path!r} is not a path; write names with dots, [] for a list: items[].link"
        )
    return JsonEngine(rules.url, rules.path, rules, user_agent)


def site_of(rules: Search, domains: list[str], hosts: list[str]) -> str:
    """Where to search: as configured, or else the only domain or host of the scope; empty: everywhere."""
    named = [*domains, *hosts]
    return rules.site or (urls.hostname(found) if len(named) == 1 and (found := urls.from_person(named[0])) else "")
