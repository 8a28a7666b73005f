"""Which URLs may be asked, and why not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.scope import Scope
from lycosa.types import BadInput, Link


def scope(**rules: object) -> Scope:
    return Scope(config.Scope(**rules))  # type: ignore[arg-type]


def test_without_rules_everything_passes() -> None:
    assert scope().refuses("http://example.org/a?b") == ""


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://example.org/", ""),
        ("http://www.example.org/", ""),
        ("https://a.b.example.org:8443/x", ""),
        ("http://notexample.org/", "out-of-scope"),
        ("http://example.org.evil.com/", "out-of-scope"),
        ("http://other.net/", ""),
        ("http://www.other.net/", "out-of-scope"),
    ],
)
def test_domains_mean_subdomains_too_and_hosts_do_not(url: str, refusal: str) -> None:
    assert scope(domains=["example.org"], hosts=["other.net"]).refuses(url) == refusal


def test_hosts_with_a_port_are_meant_with_it() -> None:
    rules = scope(hosts=["localhost:8080"])
    assert rules.refuses("http://localhost:8080/") == ""
    assert rules.refuses("http://localhost:8081/") == "out-of-scope"


def test_exclude_searches_the_whole_url() -> None:
    rules = scope(exclude=[r"\.php$", "/private/"])
    assert rules.refuses("http://example.org/a.php") == "excluded"
    assert rules.refuses("http://example.org/private/x") == "excluded"
    assert rules.refuses("http://example.org/a.html") == ""


def test_depth() -> None:
    assert scope(max_depth=2).refuses("http://example.org/", 2) == ""
    assert scope(max_depth=2).refuses("http://example.org/", 3) == "too-deep"
    assert scope(max_depth=0).refuses("http://example.org/", 10_000) == ""


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://h/a.pdf", "suffix"),
        ("http://h/a.PDF", "suffix"),
        ("http://h/a.tar.gz", "suffix"),
        ("http://h/a.pdf?as=.html", "suffix"),
        ("http://h/a.html?of=a.pdf", ""),
        ("http://h/a.php", ""),
        ("http://h/a.html", ""),
        ("http://h/a.xhtml", ""),
        ("http://h/pdf", ""),
        ("http://h/a.pdf/", ""),
        ("http://h/show?file=a.pdf", ""),
        ("http://h/a.pdf?x=1", ""),
        ("http://example.ps/", ""),
        ("http://example.zip/", ""),
    ],
)
def test_files_that_are_no_pages_are_known_by_the_end_of_their_path(url: str, refusal: str) -> None:
    """In any case of letters, and the host's own end does not count."""
    assert scope().refuses(url) == refusal
    assert scope(skip_suffixes=[]).refuses(url) == ""
    assert scope(skip_suffixes=[".html"]).refuses("http://h/a.HTML") == "suffix"
    assert scope(skip_suffixes=["html"]).refuses("http://h/a.html") == "suffix"


def test_traps() -> None:
    assert scope(max_url_length=40).refuses("http://example.org/" + "a" * 30) == "trap-length"
    assert scope(max_repeats=3).refuses("http://example.org/a/b/a/b/a/b/a/b") == "trap-repeats"
    assert scope(max_repeats=3).refuses("http://example.org/a/b/a/b/a/b") == ""


def test_every_rule_counts_where_there_are_several() -> None:
    rules = scope(domains=["example.org"], max_depth=2, max_url_length=40, max_repeats=3)
    assert rules.refuses("http://example.org/" + "a" * 30) == "trap-length"
    assert rules.refuses("http://example.org/a/b/a/b/a/b/a/b") == "trap-repeats"
    assert rules.refuses("http://example.org/", 3) == "too-deep"
    assert rules.refuses("http://other.net/", 1) == "out-of-scope"
    assert rules.refuses("http://example.org/", 1) == ""


def test_packed_sitemaps_are_asked_where_sitemaps_are_wanted() -> None:
    assert scope(sitemaps=True).refuses("http://h/sitemap.xml.gz") == ""
    assert scope(sitemaps=False).refuses("http://h/sitemap.xml.gz") == "suffix"


def test_more_hosts_than_are_remembered_get_the_same_answers() -> None:
    rules = scope(domains=["example.org"])
    for number in range(100_010):
        assert rules.refuses(f"http://h{number}.net/") == "out-of-scope"
    assert rules.refuses("http://h1.example.org/") == ""
    assert len(rules._host_refusals) <= 100_001


def test_only_so_many_queries_to_one_path() -> None:
    rules = scope(max_queries_per_path=2)
    assert rules.admits_query("http://example.org/c?month=1")
    assert rules.admits_query("http://example.org/c?month=2")
    assert not rules.admits_query("http://example.org/c?month=3")
    assert rules.admits_query("http://example.org/d?month=3")
    assert all(rules.admits_query("http://example.org/plain") for _ in range(5))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"exclude": ["("]}, "scope.exclude: '(' is not a regular expression"),
        ({"domains": ["example.org/path"]}, "is not a host or domain name"),
        (
            {"domains": ["http://example.org/"]},
            "scope.domains: 'http://example.org/' is a URL: write the name alone, domains = [\"example.org\"]",
        ),
        ({"domains": ["https://example.org:8080/path"]}, 'domains = ["example.org"]'),
        ({"hosts": ["http://example.org:8080/"]}, 'hosts = ["example.org:8080"]'),
        ({"hosts": ["mailto://"]}, 'hosts = ["example.org"]'),
        ({"domains": ["example.org:8080"]}, "names a port: put it under scope.hosts"),
        ({"hosts": ["two words"]}, "is not a host or domain name"),
    ],
)
def test_rules_that_mean_nothing_are_named(rules: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        scope(**rules)
    assert words in str(caught.value)


_URLS = st.text("ab./?~", max_size=12).map("http://h.x/".__add__)
_RULES: list[dict[str, object]] = [
    {"max_url_length": 20},
    {"max_depth": 2},
    {"max_repeats": 2},
    {"skip_suffixes": ["ab", "html"]},
    {"exclude": ["a.b"]},
    {"domains": ["h.x"]},
    {"hosts": ["x.h"]},
]


@pytest.mark.parametrize("rules", _RULES)
@given(st.lists(st.builds(Link, _URLS | _URLS.map("{}.html".format), depth=st.integers(1, 4))))
def test_the_links_of_a_page_are_refused_like_each_alone(rules: dict[str, object], links: list[Link]) -> None:
    asked = scope(**rules)
    links = list({link.url: link for link in links}.values())  # as on a page, each URL once
    expected = {link.url: why for link in links if (why := asked.refuses(link.url, link.depth))}
    assert asked.refusals(links) == expected
    assert asked.refusals(links) == expected, "the same answer when asked again"
    asked.exclude(re.compile(""))
    assert [*asked.refusals(links)] == [link.url for link in links]
