"""What one robots.txt says to us: the same as Protego finds in the whole file, at a bounded cost."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from lycosa.fetch.robots_file import MOST_BYTES, MOST_RULES, MOST_SITEMAPS, MOST_WILDCARDS, Rules, ours, sitemaps_of
from lycosa.types import Origin


def rules(text: str, agent: str = "Lycosa") -> Rules:
    return Rules(text.encode(), agent, "rules", 0.0)


AGENTS = ["*", "lycosa", "Lycosa", "lyco", "osa", "other", "lycosa*", "**", "", "wolf-lycosa", "lycosa/1.0"]
NAMES = ["User-agent", "useragent", "User agent", "USER-AGENT ", "Disallow", "dissallow", "Allow", "Crawl-delay"]
NAMES += ["Sitemap", "Host", "Request-rate", "Noindex", "Disallow x", ""]
VALUES = [*AGENTS, "/", "/a", "/a/b", "/a*b", "/*b$", "/a$", "/%61", "5", "7.5", "nonsense", "http://x.example/s.xml"]
COLONS = [":", ": ", " "]
LINES = st.one_of(
    st.builds("User-agent: {}".format, st.sampled_from(AGENTS)),
    st.builds("{}{}{}".format, st.sampled_from(NAMES), st.sampled_from(COLONS), st.sampled_from(VALUES)),
    st.sampled_from(["", "# a comment", "Disallow: /a # why", "just words", "http://x.example/"]),
)


@given(st.lists(LINES, max_size=12), st.sampled_from(["Lycosa", "wolf-lycosa", "my lycosa", "other"]))
def test_it_says_what_protego_says(lines: list[str], agent: str) -> None:
    text = "\n".join(lines)
    whole, found = Protego.parse(text), rules(text, agent)
    for path in ("/", "/a", "/a/b", "/axb", "/b"):
        assert found.allows(f"http://e.org{path}") == whole.can_fetch(f"http://e.org{path}", agent), (text, path)
    assert found.crawl_delay_s == (whole.crawl_delay(agent) or 0.0)
    assert list(found.sitemaps) == list(dict.fromkeys(whole.sitemaps))


BOMBS = {
    "agents times rules": "".join(f"User-agent: a{n}\n" for n in range(15_000))
    + "User-agent: *\n"
    + "".join(f"Disallow: /{n}\n" for n in range(16_000)),
    "our name in pieces": "".join(f"User-agent: {'lycosa'[: n % 7]}*\n" for n in range(15_000))
    + "".join(f"Disallow: /{n}\n" for n in range(16_000)),
    "wildcards": "User-agent: *\n" + "".join(f"Disallow: /*a*{n}*b$\n" for n in range(20_000)),
    "plain": "User-agent: *\n" + "".join(f"Disallow: /some/path/{n}/\n" for n in range(16_000)),
    "dollars": "User-agent: *\n" + "".join(f"Disallow: /{'$' * 30}{n}$\n" for n in range(14_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_little(name: str) -> None:
    text = BOMBS[name][:MOST_BYTES]
    assert len(text) > 250_000
    tracemalloc.start()
    try:
        found = rules(text)
        found.allows("http://e.org/x")
        live, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000
    assert live / 2 < found.size_bytes < max(10_000, live * 2)  # what the cache reckons with is about right


def test_so_many_rules_count() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{n}\n" for n in range(MOST_RULES + 10)) + "Crawl-delay: 7\n"
    lines, _ = ours(text, "Lycosa")
    assert len(lines) == MOST_RULES + 1
    assert rules(text).crawl_delay_s == 7.0
    lines, _ = ours("User-agent: *\n" + "".join(f"Disallow: /*{n}\n" for n in range(2_000)) + "Allow: /x\n", "Lycosa")
    assert len(lines) == MOST_WILDCARDS + 1


def test_so_many_sitemaps_count() -> None:
    _, sitemaps = ours("".join(f"Sitemap: http://e.org/{n}\n" for n in range(MOST_SITEMAPS + 10)), "Lycosa")
    assert len(sitemaps) == MOST_SITEMAPS


def test_many_wildcards_in_one_rule_do_not_take_for_ever() -> None:
    assert rules("User-agent: *\nDisallow: /" + "*a" * 30 + "*b$").allows("http://e.org/" + "a" * 2_000)


def test_only_sitemaps_of_the_own_site_are_offered() -> None:
    named = ["http://www.e.co.uk/1.xml", "https://cdn.e.co.uk/2.xml", "/3.xml", "www.e.co.uk/4.xml"]
    named += [
        "http://victim.co.uk/",
        "http://e.co.uk.evil.example/",
        "//victim.co.uk/x",
        "mailto:a@e.co.uk",
        "http://[",
    ]
    found = sitemaps_of("https://www.e.co.uk", named)
    assert [link.url for link in found] == [
        "http://www.e.co.uk/1.xml",
        "https://cdn.e.co.uk/2.xml",
        "https://www.e.co.uk/3.xml",
        "http://www.e.co.uk/4.xml",
    ]
    assert {(link.anchor, link.origin) for link in found} == {("https://www.e.co.uk/", Origin.ROBOTS)}
