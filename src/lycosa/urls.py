"""URLs according to the WHATWG standard: join, canonicalise, split, and detect traps."""

import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import can_ada

_WEB = ("http:", "https:")
_NO_URL = (ValueError, TypeError)  # TypeError for text that is not valid Unicode, as in broken headers


class Base:
    """The base URL of a page's links."""

    def __init__(self, url: str) -> None:
        self._url = can_ada.parse(url)

    def join(self, reference: str) -> str:
        """The canonical URL of a reference; empty if it does not lead to a web page."""
        try:
            return _clean(self._url + reference)
        except _NO_URL:
            return ""


def canonical(url: str) -> str:
    """Absolute and canonical according to the WHATWG standard, without fragment and credentials; empty if it is not a
    web URL."""
    try:
        return _clean(can_ada.parse(url))
    except _NO_URL:
        return ""


def _clean(url: can_ada.URL) -> str:
    if url.protocol not in _WEB:
        return ""
    if url.has_hash():
        url.hash = ""
    if url.has_credentials():
        url.username = url.password = ""
    return str(url.href)


def host(url: str) -> str:
    """Host and port of a canonical URL: each has one queue, one robots.txt, one request at a time."""
    return url.split("/", 3)[2]


def hostname(url: str) -> str:
    """The host without its port, brackets kept around IPv6."""
    name = host(url)
    return name.rsplit(":", 1)[0] if ":" in name and not name.endswith("]") else name


def origin(url: str) -> str:
    """Scheme, host and port of a canonical URL: the scope of a robots.txt."""
    return "/".join(url.split("/", 3)[:3])


def _keyed(url: str, secret: bytes = os.urandom(16)) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8, key=secret).digest(), "big")


# A 64-bit hash that identifies a URL in this process and cannot be forged from outside: a link crafted to collide with
# another would hide it from the crawl. Python's own hash of text has a secret key (SipHash), unless it was disabled.
_is_secret = sys.flags.hash_randomization and os.environ.get("PYTHONHASHSEED", "random") in ("", "random")
key: Callable[[str], int] = hash if _is_secret else _keyed


@lru_cache(maxsize=65_536)
def registered_domain(name: str, private: bool = False) -> str:
    """The registered domain of a host name (example.co.uk), or the name itself if there is none; `private` includes
    suffixes of companies (someone.blogspot.com)."""
    return str(_suffixes()(name, include_psl_private_domains=private).top_domain_under_public_suffix or name)


@lru_cache(maxsize=1)
def _suffixes() -> Any:
    import tldextract  # slow to load, and most crawls never need it

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)  # use the bundled list: nothing is downloaded


def path_and_query(url: str) -> str:
    """The part of a URL that robots.txt rules apply to."""
    return "/" + url.split("/", 3)[3]


def repeats(url: str, most: int) -> bool:
    """Whether one segment of the path occurs more than `most` times, which is typical of traps: /a/b/a/b/a/b."""
    path = url.split("?", 1)[0]
    if path.count("/") < most + 3:  # the three slashes before the path
        return False
    segments = Counter(path.split("/")[3:])
    del segments[""]
    return max(segments.values(), default=0) > most


_with_scheme = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://").match


def from_person(text: str) -> str:
    """A URL as typed by a user: a missing scheme means http; empty if it is not a web URL even so."""
    text = text.strip()
    if not text or any(char.isspace() for char in text):
        return ""
    if _with_scheme(text):
        return canonical(text)
    if "@" in text.partition("/")[0]:  # an e-mail address
        return ""
    found = canonical(f"http://{text}")
    # without a scheme, a single word is more likely a mistake than a host
    return found if found and ("." in hostname(found) or "localhost" in hostname(found) or "[" in found) else ""
