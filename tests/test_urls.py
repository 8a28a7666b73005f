"""URLs: join, canonicalise, take apart, and smell a trap."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import urls
from lycosa.urls import Base, canonical, from_person, host, hostname, origin, path_and_query, repeats

BASE = "http://example.org/a/b.html?q=1"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("c.html", "http://example.org/a/c.html"),
        ("../c", "http://example.org/c"),
        ("../../../c", "http://example.org/c"),
        ("/c/./d/../e", "http://example.org/c/e"),
        ("?x=2", "http://example.org/a/b.html?x=2"),
        ("", "http://example.org/a/b.html?q=1"),
        ("#top", "http://example.org/a/b.html?q=1"),
        ("c#top", "http://example.org/a/c"),
        ("//other.example/x", "http://other.example/x"),
        ("https://Other.Example:443/x", "https://other.example/x"),
        ("HTTP://example.org:80", "http://example.org/"),
        ("http:c", "http://example.org/a/c"),
        ("  c\n", "http://example.org/a/c"),
        ("c d", "http://example.org/a/c%20d"),
        ("/\u00e4?\u00f6", "http://example.org/%C3%A4?%C3%B6"),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("\\c\\d", "http://example.org/c/d"),
        ("mailto:a@b.example", ""),
        ("javascript:void(0)", ""),
        ("data:text/html,x", ""),
        ("ftp://example.org/", ""),
        ("file:///etc/passwd", ""),
        ("http://", ""),
        ("http://[::1", ""),
        ("http://a b/", ""),
        ("http://1.2.3.4.5.6/", ""),
    ],
)
def test_join(reference: str, expected: str) -> None:
    assert Base(BASE).join(reference) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://EXAMPLE.org", "http://example.org/"),
        ("http://example.org/%7Eme/?b=2&a=1#x", "http://example.org/%7Eme/?b=2&a=1"),
        ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("example.org", ""),
        ("/only/a/path", ""),
        ("", ""),
        ("about:blank", ""),
    ],
)
def test_canonical(url: str, expected: str) -> None:
    assert canonical(url) == expected


@given(st.text())
def test_canonical_takes_anything_and_is_final(text: str) -> None:
    for url in (canonical(text), canonical("http://example.org/" + text), Base(BASE).join(text)):
        assert url == "" or (canonical(url) == url and url.startswith(("http://", "https://")) and "#" not in url)


@given(st.text(), st.text())
def test_the_parts_of_a_url_make_the_url(path: str, query: str) -> None:
    url = canonical(f"https://example.org:8080/{path}?{query}")
    assert origin(url) + path_and_query(url) == url


def test_take_apart() -> None:
    url = "https://www.example.org:8080/a/b?c=d/e"
    assert host(url) == "www.example.org:8080"
    assert hostname(url) == "www.example.org"
    assert origin(url) == "https://www.example.org:8080"
    assert path_and_query(url) == "/a/b?c=d/e"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://example.org/", "example.org"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[::1]/", "[::1]"),
        ("http://[::1]:8080/", "[::1]"),
    ],
)
def test_hostname(url: str, name: str) -> None:
    assert hostname(url) == name


def test_a_canonical_url_always_has_a_path() -> None:
    assert path_and_query(canonical("http://example.org")) == "/"
    assert path_and_query(canonical("http://example.org?x=1")) == "/?x=1"


@pytest.mark.parametrize(
    ("url", "most", "expected"),
    [
        ("http://example.org/a/b/a/b/a/b/a", 3, True),
        ("http://example.org/a/b/a/b/a/b", 3, False),
        ("http://example.org/a/a/a/a", 3, True),
        ("http://example.org/a/a/a/a", 4, False),
        ("http://example.org////////", 3, False),
        ("http://example.org/?q=/a/a/a/a/a/a", 3, False),
        ("http://example.org/", 0, False),
        ("http://example.org/a", 0, True),
    ],
)
def test_repeats(url: str, most: int, expected: bool) -> None:
    assert repeats(url, most) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.org", "http://example.org/"),
        ("  https://example.org/a  ", "https://example.org/a"),
        ("example.org:8080/a", "http://example.org:8080/a"),
        ("localhost:8000", "http://localhost:8000/"),
        ("http://[::1]/", "http://[::1]/"),
        ("www.example.org/?a=http://b.example", "http://www.example.org/?a=http://b.example"),
        ("", ""),
        ("two words", ""),
        ("word", ""),
        ("# a comment", ""),
        ("ftp://example.org/", ""),
        ("mailto:a@example.org", ""),
        ("a@example.org", ""),
        ("example.org:80/?u=http://b.example", "http://example.org/?u=http://b.example"),
        ("example.org/@me", "http://example.org/@me"),
        ("javascript:alert(1)", ""),
    ],
)
def test_from_person(text: str, expected: str) -> None:
    assert from_person(text) == expected


@given(st.text())
def test_from_person_takes_anything(text: str) -> None:
    url = from_person(text)
    assert url == "" or canonical(url) == url


def test_a_base_must_be_a_url() -> None:
    with pytest.raises(ValueError):
        urls.Base("no url")


@pytest.mark.parametrize("seed", [None, "0", "random", "123"])
def test_keys_cannot_be_foretold(seed: str | None) -> None:
    """Another process has other keys, even where Python's own hashes are the same everywhere."""
    code = "from lycosa import urls; print(urls.key('http://example.org/'))"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    env |= {"PYTHONHASHSEED": seed} if seed is not None else {}
    keys = {subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout for _ in "ab"}
    assert len(keys) == 2


def test_a_key_stands_for_one_url() -> None:
    assert urls.key("http://example.org/") == urls.key("http://example." + "org/") != urls.key("http://example.org/2")
    assert urls._keyed("http://example.org/") == urls._keyed("http://example." + "org/") != urls._keyed("http://x/")


@pytest.mark.parametrize(
    ("name", "public", "private"),
    [
        ("www.example.co.uk", "example.co.uk", "example.co.uk"),
        ("a.someone.blogspot.com", "blogspot.com", "someone.blogspot.com"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
    ],
)
def test_registered_domain(name: str, public: str, private: str) -> None:
    assert (urls.registered_domain(name), urls.registered_domain(name, private=True)) == (public, private)
