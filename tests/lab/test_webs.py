"""One name for every kind of web, and a generated web that is known without being read."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.generated import GeneratedWeb, Links, Oddities, Text
from lycosa.lab.recorded import RecordedWeb
from lycosa.lab.survey import LinkGraph, count, reach
from lycosa.lab.webs import GeneratedPages, generated, graph_of, labels_of, open_web, site_of, stamp
from lycosa.parse import Parsers
from lycosa.types import BadInput, Link, Reply

ODD = GeneratedWeb(
    pages=240,
    hosts=12,
    seed=4,
    text=Text(size_bytes=(500, 1_000)),
    links=Links(count=(4, 9), chains=2),
    oddities=Oddities(dead_ends=0.1, duplicates=0.15, redirects=0.15, private=0.1, failing=True, trap=True),
)


class TestNames:
    def test_a_warc(self, warcs: Any, tmp_path: Path) -> None:
        warcs.pages("a.warc.gz", {"http://a.example/": "x"})
        web = open_web("a.warc.gz", tmp_path)
        assert isinstance(web, RecordedWeb)
        assert web.pages() == ["http://a.example/"]
        assert isinstance(graph_of(web), LinkGraph)
        assert site_of(web) is web

    def test_a_generated_web(self) -> None:
        web = open_web("generated:pages=50,hosts=5,seed=9,count=3-6,size-bytes=300-600,trap=true,locality=0.5,topics=3")
        assert isinstance(web, GeneratedPages)
        site = web.site
        assert (site.pages, site.hosts, site.seed, site.links.count, site.links.locality) == (50, 5, 9, (3, 6), 0.5)
        assert (site.text.size_bytes, site.oddities.trap, len(site.text.topics)) == ((300, 600), True, 3)
        assert graph_of(web) is web
        assert site_of(web) is site

    def test_nothing_but_the_name(self) -> None:
        assert generated("generated:") == GeneratedWeb()

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("generated:pages", "'pages' is not key=value"),
            ("generated:colour=red", "unknown key 'colour' .*pages, hosts, seed"),
            ("generated:matrix=1", "unknown key 'matrix'"),
            ("generated:text=1", "unknown key 'text'"),
            ("generated:pages=many", "pages: expected a whole number"),
            ("generated:hosts=1-2", "hosts: expected a whole number"),
            ("generated:topics=0", "topics: '0' is neither a number"),
            ("generated:topics=x", "topics: 'x' is neither a number"),
            ("generated:pages=3,hosts=5", "3 pages cannot fill 5 hosts"),
        ],
    )
    def test_what_cannot_be_generated(self, name: str, problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            generated(name)

    def test_a_web_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"no\.warc: no such file"):
            open_web("no.warc", tmp_path)

    def test_a_stamp_changes_with_the_file(self, warcs: Any, tmp_path: Path) -> None:
        warcs.pages("a.warc", {"http://a.example/": "x"})
        before = stamp("a.warc", tmp_path)
        assert stamp("a.warc", tmp_path) == before
        warcs.pages("a.warc", {"http://a.example/": "longer"})
        assert stamp("a.warc", tmp_path) != before
        assert stamp("generated:pages=20", tmp_path) == "generated:pages=20"


class TestGeneratedPages:
    @pytest.fixture
    def web(self) -> GeneratedPages:
        return GeneratedPages(ODD)

    def test_links_are_those_of_the_pages(self, web: GeneratedPages) -> None:
        """Computed without the page, and the same as read from it."""
        for url in web.pages():
            answer = web.get(url)
            assert answer
            assert answer.status == 200
            page = Parsers().parse(Reply(Link(url), url=url, content_type="text/html", body=answer.body))
            read = dict.fromkeys(filter(None, (web.resolve(link.url) for link in page.links)))
            assert set(web.links(url)) == {address for address in read if address != url}, url

    def test_every_page_has_one_name(self, web: GeneratedPages) -> None:
        pages = web.pages()
        bodies = {answer.body for page in pages if (answer := web.get(page))}
        assert len(bodies) == len(pages) == len(set(pages)) < len(web) == 240
        assert all(web.page(page) == web.resolve(page) == page for page in pages)

    def test_redirects_and_duplicates_lead_to_pages(self, web: GeneratedPages) -> None:
        kinds = set()
        for page in web.pages():
            for address in web.links(page):
                answer = web.get(address)
                assert answer
                assert answer.status == 200, "links are resolved"
                kinds.add(web.page(address) != address)
                assert web.page(address) in web.pages()
        assert kinds == {True, False}

    def test_what_is_no_page(self, web: GeneratedPages) -> None:
        failing = f"http://{web._layout.host(ODD.hosts - 2)}/"
        trap = f"http://{web._layout.host(ODD.hosts)}/calendar/2024/1"
        for url in (failing, trap, "http://elsewhere.example/", "no url"):
            assert (web.page(url), web.resolve(url), web.links(url)) == ("", "", [])

    def test_the_truth(self, web: GeneratedPages) -> None:
        labels = labels_of(web, None)
        assert set(labels) == set(web.pages())
        assert all(labels[page] == ODD.topic_of(page) for page in labels)

    def test_counted_like_a_recorded_web(self, web: GeneratedPages) -> None:
        found = count(web, web.seeds(3), labels_of(web, None))
        assert (found.addresses, found.pages, found.hosts) == (240, len(web.pages()), 11)
        assert found.reachable == len(reach(web, web.seeds(3))) == sum(found.reachable_labels.values()) > 50
        assert sum(found.labels.values()) == found.pages

    def test_too_large_to_count(self) -> None:
        web = GeneratedPages(GeneratedWeb(pages=10_000_000, hosts=1_000))
        assert web.page(web.seeds()[0]) == web.seeds()[0]
        with pytest.raises(BadInput, match="10,000,000 pages is too large to count"):
            web.pages()
