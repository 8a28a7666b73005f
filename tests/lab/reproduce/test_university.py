"""A site computed from the URL: its pages, its people, and what a search can find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.reproduce.university import ROOT, University
from lycosa.parse import Parsers
from lycosa.seeds.queries import list_items, title_of
from lycosa.strategy import url_training
from lycosa.types import Link, Page, Reply

SITE = University(seed=3)


def parsed(url: str) -> Page:
    answer = SITE.get(url)
    assert answer
    return Parsers().parse(Reply(Link(url), url=url, status=200, content_type="text/html", body=answer.body))


def reachable(site: University) -> set[str]:
    """Without going into courses and news, which lead nowhere else."""
    found = {f"{ROOT}/"}
    waiting = list(found)
    while waiting:
        url = waiting.pop()
        answer = site.get(url)
        assert answer, url
        page = Parsers().parse(Reply(Link(url), url=url, status=200, content_type="text/html", body=answer.body))
        new = {link.url for link in page.links if "/news/" not in link.url and "/courses/" not in link.url} - found
        found |= new
        waiting += new
    return found


def test_the_census_is_the_documents() -> None:
    assert SITE.people == 297
    totals = [len(University(seed=seed).publications()) for seed in range(8)]
    assert 150 < sum(totals) / len(totals) < 188  # 169 by the document's estimate
    assert all(SITE.has_page(person) for person in range(100))


def test_every_page_answers_and_each_is_named_once() -> None:
    pages = SITE.pages()
    assert len(SITE) == len(pages) == len(set(pages)) > 3_000
    assert all(SITE.get(url) for url in pages)
    assert sum(map(SITE.is_publication, pages)) == len(SITE.publications())


def test_no_link_leads_nowhere_and_lists_lead_to_a_share() -> None:
    found = reachable(SITE)
    assert found <= set(SITE.pages())
    share = len([url for url in SITE.publications() if url in found]) / len(SITE.publications())
    assert 0.15 < share < 0.4
    everything = University(seed=3, linked=1.0)
    assert set(everything.publications()) <= reachable(everything)


def test_the_same_seed_the_same_site() -> None:
    url = SITE.publications()[0]
    assert SITE.get(url) == University(seed=3).get(url)
    assert University(seed=4).publications() != SITE.publications()


def test_a_title_can_be_read_and_stands_on_the_pages_of_its_authors() -> None:
    group, number = next((g, n) for g in range(49) for n in range(14) if len(SITE.authors(g, n)) > 1)
    title = SITE.title(group, number)
    for person in SITE.authors(group, number):
        assert (group, number) in SITE.papers(person)
        if SITE.has_page(person):
            mine = next(url for url in SITE.publications() if url.startswith(f"{ROOT}{SITE.home(person)}"))
            answer = SITE.get(mine)
            assert answer
            assert title in [title_of(item) for item in list_items(answer.body)]


def test_most_publication_pages_have_telling_names() -> None:
    classes = url_training.train(url_training.built_in())
    known = [classes.class_of(url) == "publication" for url in SITE.publications()]
    assert 0.6 < sum(known) / len(known) < 0.95


def test_what_leads_where() -> None:
    assert f"{ROOT}/departments/arts/faculty.html" in {link.url for link in parsed(f"{ROOT}/departments/arts/").links}
    listed = parsed(f"{ROOT}/departments/arts/faculty.html")
    people = [link.url for link in listed.links if "~" in link.url]
    assert people
    assert all(SITE.is_linked(int("".join(filter(str.isdigit, url)))) for url in people)


@pytest.mark.parametrize(
    "path",
    [
        "/~nobody7/",
        "/~nobody/",
        "/departments/magic/",
        "/departments/arts/nothing.html",
        "/courses/cs1999/",
        "/courses/cs1000/lecture-99.html",
        "/courses/cs1000/lecture-0.html",
        "/news/9999.html",
        "/news/1/",
        "/robots.txt",
    ],
)
def test_there_is_no_such_page(path: str) -> None:
    assert SITE.get(ROOT + path) is None
    assert not SITE.is_publication(ROOT + path)


def test_other_sites_are_not_ours() -> None:
    assert SITE.get("http://www.other.example/") is None


def test_a_page_is_named_by_its_address() -> None:
    assert SITE.page(f"{ROOT}/") == SITE.resolve(f"{ROOT}/") == f"{ROOT}/"
    assert SITE.page(f"{ROOT}/nowhere.html") == ""


@given(st.text(st.characters(codec="ascii"), max_size=30))
def test_any_path_is_answered_or_not(path: str) -> None:
    answer = SITE.get(f"{ROOT}/{path}")
    assert answer is None or answer.status == 200
