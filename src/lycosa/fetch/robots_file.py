"""The rules of one robots.txt. Only the lines for our user agent reach the matcher, up to a limit.

Protego stores every rule once per user agent of its group: a thousand agents above a thousand rules make a million
rules, from a file of 40 kB. So we select the group as Protego would, before any rule is parsed.
"""

import re
from collections.abc import Iterable, Iterator

from protego import Protego

from lycosa import urls
from lycosa.types import Link, Origin

MOST_BYTES = 512_000  # RFC 9309 requires at least 500 KiB; the rest is ignored
MOST_RULES = 10_000  # of our group; the rest is ignored
MOST_WILDCARDS = 1_000  # of those, with a '*': each is matched against every URL
MOST_SITEMAPS = 1_000

_AGENT = "user-agent"
_FIELDS = {  # the fields Protego understands, including common misspellings
    **dict.fromkeys(["user-agent", "useragent", "user agent"], _AGENT),
    **dict.fromkeys(["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"], "disallow"),
    "allow": "allow",
    **dict.fromkeys(["crawl-delay", "crawl delay"], "crawl-delay"),
    **dict.fromkeys(["sitemap", "sitemaps", "site-map"], "sitemap"),
    "host": "host",
    **dict.fromkeys(["request-rate", "request rate", "visit-time", "visit time"], "other"),
}
_names = "|".join(name.replace(" ", r"\s+") for name in sorted(_FIELDS, key=len, reverse=True))
_without_colon = re.compile(rf"({_names})(?:\s+(.*))?$", re.IGNORECASE | re.DOTALL).match  # "Disallow /private"


class Rules:
    """The rules of one robots.txt that apply to us."""

    __slots__ = ("_parsed", "crawl_delay_s", "expires_at", "sitemaps", "size_bytes", "unreachable")

    def __init__(self, body: bytes, agent: str, verdict: str, expires_at: float) -> None:
        text = body[:MOST_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        lines, self.sitemaps = ours(text, agent)
        self._parsed = Protego.parse("\n".join(["User-agent: *", *lines])) if lines else None
        self.unreachable = verdict == "unreachable"
        self.expires_at = expires_at
        self.crawl_delay_s = float(self._parsed.crawl_delay("*") or 0.0) if self._parsed else 0.0
        self.size_bytes = 500 + (2_500 if lines else 0) + sum(map(_memory, lines)) + sum(map(len, self.sitemaps))

    def allows(self, url: str) -> bool:
        return self._parsed is None or bool(self._parsed.can_fetch(url, "*"))


def sitemaps_of(origin: str, named: Iterable[str]) -> list[Link]:
    """The sitemaps that a robots.txt names, as far as they are on its own site. Their anchor is the host that named
    them: a sitemap may list its URLs, even if it is stored on another host of the site."""
    base, site = urls.Base(f"{origin}/"), urls.registered_domain(urls.hostname(f"{origin}/"))
    found = dict.fromkeys(base.join(text) if text.startswith("/") else urls.from_person(text) for text in named)
    own = [url for url in found if url and urls.registered_domain(urls.hostname(url)) == site]
    return [Link(url, anchor=f"{origin}/", origin=Origin.ROBOTS) for url in own]


def ours(text: str, agent: str) -> tuple[list[str], tuple[str, ...]]:
    """The rules for the user agent, one per line, and the sitemaps, each within its limit."""
    groups: list[tuple[dict[str, None], dict[str, None]]] = []  # names and rules of each group, in file order
    sitemaps: dict[str, None] = {}
    names_go_on = False  # consecutive user agents share their rules
    for field, value in _directives(text):
        if field == _AGENT:
            if not names_go_on:
                groups.append(({}, {}))
            names_go_on = True
            groups[-1][0].update(dict.fromkeys((value.lower(), value.lower().replace("*", ""))))
        elif field == "sitemap":
            sitemaps[value] = None
        elif field != "host":
            names_go_on = False
            if value and groups and field in ("allow", "disallow", "crawl-delay"):
                groups[-1][1].pop(f"{field}: {value}", None)  # the last crawl-delay counts
                groups[-1][1][f"{field}: {value}"] = None
    name = _best([name for names, _ in groups for name in names if name], agent.strip().lower())
    lines = [line for names, rules in groups if name in names for line in rules] if name else []
    return list(_within_limits(lines)), tuple(filter(None, sitemaps))[:MOST_SITEMAPS]


def _directives(text: str) -> Iterator[tuple[str, str]]:
    """Field and value of each line that has a field; 'other' for fields we do not use."""
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        field, colon, value = line.partition(":")
        known = _FIELDS.get(field.strip().lower()) if colon else None
        if known:
            yield known, value.strip()
        elif colon and (not value or value[0].isspace()):
            yield "other", ""
        elif found := _without_colon(line):
            yield _FIELDS[" ".join(found[1].lower().split())], " ".join((found[2] or "").split())
        elif colon:
            yield "other", ""


def _best(names: list[str], agent: str) -> str:
    """The name in the file that matches ours best; empty if none does."""
    best = max(names, key=lambda name: _fit(name, agent), default="")
    return best if best and _fit(best, agent) else ""


def _fit(name: str, agent: str) -> int:
    """How well a name in the file matches ours: its length if ours contains it at a word start, 1 for '*', else 0."""
    if name == "*":
        return 1
    at = agent.find(name)
    while at > 0 and (agent[at - 1].isalnum() or agent[at - 1] in "-_"):
        at = agent.find(name, at + 1)
    return len(name) if at >= 0 else 0


def _memory(line: str) -> int:
    """Approximate size of a parsed rule in bytes, as measured."""
    if "*" in line or "$" in line:
        return 1_300 + 60 * line.count("*") + 2 * len(line)
    return 250 + len(line)


def _within_limits(lines: list[str]) -> Iterator[str]:
    rules = wildcards = 0
    for line in lines:
        if line.startswith("crawl-delay"):  # it may come after all rules, and costs nothing
            yield line
            continue
        rules += 1
        wildcards += "*" in line
        if rules <= MOST_RULES and (wildcards <= MOST_WILDCARDS or "*" not in line):
            yield line
