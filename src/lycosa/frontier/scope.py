"""Which URLs may be fetched at all: rules on domains, hosts, patterns and depth, and detection of traps."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from lycosa import config, urls
from lycosa.errors import ConfigError
from lycosa.types import Link

_PAGES = ("html", "htm", "php")  # most names with a dot end like this


class Scope:
    """Returns the reason why a URL may not be fetched; empty if it may."""

    def __init__(self, rules: config.Scope) -> None:
        self.rules = rules
        self._domains = tuple(_name(domain, "domains") for domain in rules.domains)
        self._hosts = frozenset(_name(host, "hosts") for host in rules.hosts)
        self._exclude = [_pattern(text) for text in rules.exclude]
        self._host_refusals: dict[str, str] = {}
        self._queries: Counter[int] = Counter()
        # these checks suffice for most URLs of most crawls
        self._suffixes = frozenset(suffix.lower().lstrip(".") for suffix in rules.skip_suffixes)
        self._pages = tuple(f".{suffix}" for suffix in _PAGES if suffix not in self._suffixes)
        if rules.sitemaps:
            self._suffixes -= {"gz"}  # sitemaps are usually compressed
        self._is_open = not (rules.domains or rules.hosts or rules.exclude)
        self._most_depth = rules.max_depth or 1_000_000_000
        self._few_slashes = rules.max_repeats + 2
        self._asked: tuple[Sequence[Link], Mapping[str, str]] = (), {}

    def exclude(self, pattern: re.Pattern[str]) -> None:
        """From now on, also refuse URLs that match the pattern, in addition to the exclusions in crawl.toml."""
        self._exclude.append(pattern)
        self._is_open = False
        self._asked = (), {}

    def refuses(self, url: str, depth: int = 0) -> str:
        """Why a URL is refused, whether a link, a seed or a redirect; empty if it is not."""
        rules = self.rules
        if "." in url[-7:] and ("?" in url or not url.endswith(self._pages)) and self._is_file(url):
            return "suffix"
        if self._is_open and depth <= self._most_depth and url.count("/") <= self._few_slashes:
            return "" if len(url) <= rules.max_url_length else "trap-length"
        if rules.max_depth and depth > rules.max_depth:
            return "too-deep"
        if len(url) > rules.max_url_length:
            return "trap-length"
        if refusal := self._refuses_host(urls.host(url)):
            return refusal
        if self._exclude and any(pattern.search(url) for pattern in self._exclude):
            return "excluded"
        if urls.repeats(url, rules.max_repeats):
            return "trap-repeats"
        return ""

    def refusals(self, links: Sequence[Link]) -> Mapping[str, str]:
        """Which links of a page are refused, and why. The last answer is kept: strategy and frontier ask for the same
        page."""
        if links is self._asked[0]:
            return self._asked[1]
        found: dict[str, str] = {}
        pages, slashes, depth, length = self._pages, self._few_slashes, self._most_depth, self.rules.max_url_length
        for link in links:
            url = link.url
            if (
                ("." in url[-7:] and ("?" in url or not url.endswith(pages)))
                or link.depth > depth
                or url.count("/") > slashes
                or len(url) > length
                or not self._is_open
            ) and (refusal := self.refuses(url, link.depth)):
                found[url] = refusal
        self._asked = links, found
        return found

    def _is_file(self, url: str) -> bool:
        """Whether the path, not the host or the query, has the suffix of a file that is not a page."""
        path = url.partition("?")[0] if "?" in url else url
        return path.rpartition(".")[2].lower() in self._suffixes  # after a dot in the host name there is always a slash

    def admits_query(self, url: str) -> bool:
        """Count a new query for the URL's path; False if there are too many."""
        path, mark, _ = url.partition("?")
        if not mark:
            return True
        key = urls.key(path)
        self._queries[key] += 1
        return self._queries[key] <= self.rules.max_queries_per_path

    def _refuses_host(self, host: str) -> str:
        if not self._domains and not self._hosts:
            return ""
        refusal = self._host_refusals.get(host)
        if refusal is None:
            if len(self._host_refusals) > 100_000:
                self._host_refusals.clear()
            refusal = self._host_refusals[host] = "" if self._knows(host) else "out-of-scope"
        return refusal

    def _knows(self, host: str) -> bool:
        name = urls.hostname(f"http://{host}/")
        named = host in self._hosts or name in self._hosts
        return named or any(name == domain or name.endswith("." + domain) for domain in self._domains)


def _name(text: str, key: str) -> str:
    """Convert a host or domain as typed by a user to its form in canonical URLs."""
    url = urls.from_person(text)
    if "://" in text:
        name = (urls.hostname(url) if key == "domains" else urls.host(url)) if url else "example.org"
        raise ConfigError(f"scope.{key}", f'{text!r} is a URL: write the name alone, {key} = ["{name}"]')
    if not url or urls.path_and_query(url) != "/":
        raise ConfigError(f"scope.{key}", f"{text!r} is not a host or domain name")
    if key == "domains" and urls.host(url) != urls.hostname(url):
        raise ConfigError("scope.domains", f"{text!r} names a port: put it under scope.hosts")
    return urls.host(url)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError("scope.exclude", f"{text!r} is not a regular expression: {error}") from None
