"""Places and URLs lead to each other, and every page of a topic is where arithmetic says it is."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.layout import Layout, Links, Oddities, Place
from lycosa.lab.page_text import Text
from lycosa.lab.vocabulary import topic_names


def layout(pages=5000, hosts=50, *, ip_hosts=False, topics=10, links=None, oddities=None, seed=0) -> Layout:
    return Layout(pages, hosts, seed, ip_hosts, Text(topic_names(topics)), links or Links(), oddities or Oddities())


def places(of: Layout) -> list[Place]:
    return [Place(host, rank) for host in range(of.hosts) for rank in range(of.ranks(host))]


@given(host=st.integers(0, 99), rank=st.integers(0, 99_999), ip_hosts=st.booleans(), port=st.sampled_from(["", ":81"]))
def test_a_url_leads_back_to_its_place(host, rank, ip_hosts, port):
    web = layout(10_000_000, 100, ip_hosts=ip_hosts, oddities=Oddities(private=0.3))
    assert web.find(web.url(Place(host, rank), port)) == (Place(host, rank), port)


def test_all_pages_are_on_the_hosts_and_have_different_urls():
    web = layout(1003, 20)
    assert sum(map(web.ranks, range(20))) == 1003
    assert len({web.url(place, "") for place in places(web)}) == 1003


def test_a_neighbour_of_a_url_is_no_page():
    web = layout(1000, 10)
    url = web.url(Place(3, 7), ":80")
    assert web.find(url)
    for other in (
        url.replace("-7.html", "-8.html"),
        url.replace("-7.html", "-07.html"),
        url.replace("-7.html", "-100.html"),
        url.replace("3.localhost", "4.localhost"),
        url.replace("3.localhost", "03.localhost"),
        url.replace("http:", "ftp:"),
        url + "#part",
        url + "?x=1",
        url.upper(),
    ):
        assert web.find(other) is None


def test_an_address_must_be_written_as_we_write_it():
    web = layout(1000, 10, ip_hosts=True)
    assert web.find("http://127.0.0.2/")
    for host in ("127.0.0.1", "127.0.0.12", "127.0.0.002", "127.2", "2130706434", "127.0.0.256", "1.0.0.2", "::1"):
        assert web.find(f"http://{host}/") is None


def test_four_of_five_pages_of_a_host_are_about_one_topic_and_the_others_about_all_others():
    web = layout(5000, 10)
    for host in range(10):
        topics = Counter(web.topic(Place(host, rank)) for rank in range(500))
        assert topics.pop(host) == 400
        assert set(topics) == set(range(10)) - {host}
        assert max(topics.values()) - min(topics.values()) <= 1


@pytest.mark.parametrize("topics", [1, 2, 10, 30])
@pytest.mark.parametrize("chains", [0, 2])
@pytest.mark.parametrize("same_host", [0.0, 1.0])
def test_a_link_into_a_topic_leads_into_the_topic(topics, chains, same_host):
    """Where hosts and topics are enough that there is such a page: with full locality nothing else is linked."""
    web = layout(60_000, 60, topics=topics, links=Links(locality=1.0, same_host=same_host, chains=chains, hubs=0))
    for place in (Place(0, 0), Place(7, 31), Place(59, 996 if chains else 999)):  # a stranger of a chain is its gate
        targets = web.targets(place, Random(3))
        assert {web.topic(target) for target in targets} == {web.topic(place)}
        assert all(target.rank < web.ranks(target.host) for target in targets)


def test_a_topic_without_a_host_of_its_own_lives_among_strangers():
    web = layout(3000, 3, topics=10, links=Links(locality=0.0, hubs=0))
    found = [target for rank in range(100) for target in web.targets(Place(0, rank), Random(rank))]
    assert {web.topic(target) for target in found} == set(range(10))


def test_targets_are_distinct_pages_and_those_of_the_host_come_first():
    web = layout(links=Links(count=(60, 60)))
    targets = web.targets(Place(4, 2), Random(1))
    at_home = [target.host == 4 for target in targets]
    assert at_home == sorted(at_home, reverse=True)
    assert len(set(targets)) == len(targets)
    assert Place(4, 2) not in targets


def test_all_pages_are_linked_from_somewhere():
    web = layout(2000, 20)
    linked = {target for place in places(web) for target in web.targets(place, Random(place.rank))}
    assert len(linked) >= 0.995 * 2000


def test_kinds_come_in_the_asked_shares():
    odd = Oddities(dead_ends=0.1, duplicates=0.05, redirects=0.2, private=0.15)
    web = layout(50_000, 50, links=Links(hubs=0.03), oddities=odd)
    kinds = Counter(map(web.kind, places(web)))
    shares = {kind: count / 50_000 for kind, count in kinds.items()}
    wanted = {"dead end": 0.1, "duplicate": 0.05, "redirect": 0.2, "private": 0.15, "hub": 0.03, "plain": 0.47}
    assert shares == pytest.approx(wanted, abs=0.01)
    assert all(web.kind(Place(host, 0)) == "plain" for host in range(50))


def test_an_original_is_a_plain_page_of_the_same_topic_with_a_lower_rank():
    web = layout(5000, 10, oddities=Oddities(duplicates=0.3, redirects=0.3))
    for place in places(web):
        if web.kind(place) in ("duplicate", "redirect"):
            original = web.original(place)
            assert original.rank < place.rank
            assert web.kind(original) == "plain"
            assert web.topic(original) == web.topic(place)


def test_bits_look_random():
    web, other = layout(), layout(seed=1)
    all_places = places(web)
    assert len({web.bits(place, use) for place in all_places for use in (0, 1)}) == 2 * len(all_places)
    assert not {web.bits(place, 0) for place in all_places} & {other.bits(place, 0) for place in all_places}
    for bit in (0, 13, 40, 63):
        share = sum(web.bits(place, 0) >> bit & 1 for place in all_places) / len(all_places)
        assert share == pytest.approx(0.5, abs=0.03)
