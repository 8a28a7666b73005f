"""The generated web is the same every time, costs nothing to start, and is as odd as it was asked to be."""

import re
import tracemalloc
from collections import Counter, deque
from itertools import pairwise
from random import Random
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.answer import CLOSE
from lycosa.lab.generated import GeneratedPage, GeneratedWeb, Links, Oddities, Text
from lycosa.lab.vocabulary import topic_names
from lycosa.text import words
from lycosa.types import BadInput
from lycosa.urls import canonical

SMALL = Text(size_bytes=(1000, 3000))
FEW = Links(count=(10, 20))


def links_of(web: GeneratedWeb, url: str) -> list[str]:
    page = web.page(url)
    assert page is not None
    return links_in(page, url)


def links_in(page: GeneratedPage, url: str) -> list[str]:
    hrefs = re.findall(r'<a [^>]*?href="([^"]+)"', page.body.decode())
    return [urljoin(url, href) for href in hrefs if href != "/"]


def crawl(web: GeneratedWeb, most: int = 10_000) -> dict[str, GeneratedPage]:
    """Every page that can be reached from the seeds, redirects followed."""
    waiting = deque(web.seeds(80, web.hosts))
    found: dict[str, GeneratedPage] = {}
    while waiting and len(found) < most:
        url = waiting.popleft()
        if url in found:
            continue
        found[url] = page = web.page(url)
        assert page is not None
        if page.status == 301:
            waiting.append(dict(page.headers)["Location"])
        elif page.status == 200:
            waiting += links_in(page, url)
    return found


def test_ten_million_pages_take_no_memory_for_each():
    tracemalloc.start()
    web = GeneratedWeb(pages=10_000_000, hosts=1000, seed=99)
    assert web.page(web.seeds(80)[0])
    assert tracemalloc.get_traced_memory()[1] < 40_000_000, "four bytes for each"
    tracemalloc.stop()
    urls = [url for seed in web.seeds(80, 10) for url in links_of(web, seed)]
    tracemalloc.start()
    for url in urls[:200]:
        web.page(url)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


def test_a_page_is_always_the_same_and_another_seed_gives_another():
    one, again, other = (GeneratedWeb(seed=seed, ip_hosts=True) for seed in (1, 1, 2))
    urls = one.seeds(80) + links_of(one, one.seeds(80)[0])
    assert [one.page(url) for url in urls] == [again.page(url) for url in reversed(urls)][::-1]
    assert one.page(urls[0]) != other.page(urls[0])


@pytest.mark.parametrize("ip_hosts", [False, True])
def test_pages_have_the_asked_size_and_number_of_links_and_all_links_exist(ip_hosts):
    web = GeneratedWeb(pages=100_000, hosts=50, ip_hosts=ip_hosts, links=Links(hubs=0))
    for url in links_of(web, web.seeds(8080)[0])[:30]:
        page = web.page(url)
        links = links_of(web, url)
        assert page.status == 200
        assert 20_000 <= len(page.body) <= 60_000
        assert 45 <= len(links) <= 100  # a few of fifty or more may have been the same
        assert all(canonical(link) == link and web.topic_of(link) for link in links)


def test_links_keep_the_port_of_the_request():
    web = GeneratedWeb(text=SMALL)
    assert all(":4711/" in link for link in links_of(web, web.seeds(4711)[0]))
    home = web.seeds(4711)[0].replace(":4711", "")
    assert not any(":" in link[7:] for link in links_of(web, home))


def test_what_does_not_exist_is_no_page():
    web = GeneratedWeb(pages=100, hosts=10)
    home = web.seeds(80)[0]
    real = links_of(web, home)[0]
    beyond = re.sub(r"\d+\.html", "10.html", real)
    renamed = re.sub(r"/\w+/", "/elsewhere/", real[7:]).join(["http://", ""])
    for url in ("http://example.org/", home + "nothing", home + "?q=1", beyond, renamed, "nonsense", "http://0.0.0.0/"):
        assert web.page(url) is None
        assert web.topic_of(url) == ""
        assert web.respond(url, {}).status == 404


@given(st.text(max_size=40))
def test_any_text_may_be_asked_for(text):
    for web in (GeneratedWeb(), GeneratedWeb(ip_hosts=True), GeneratedWeb(oddities=Oddities(trap=True))):
        assert web.page(text) is None
        web.respond(f"http://127.0.0.2/{text}", {})
        web.topic_of(f"http://{text}/")


def test_a_page_speaks_mostly_of_its_own_topic():
    web = GeneratedWeb(pages=5000, hosts=50)
    urls = [url for seed in web.seeds(80, 10) for url in links_of(web, seed)[:10]]
    right = 0
    for url in urls:
        used = Counter(words(re.sub(r"<script.*?</script>|<[^>]+>", " ", web.page(url).body.decode())))
        by_topic = {topic: sum(used[word] for word in web.words_of(topic)) for topic in web.text.topics}
        right += max(by_topic, key=by_topic.__getitem__) == web.topic_of(url)
    assert right > 0.95 * len(urls)


def test_pages_of_one_topic_differ():
    web = GeneratedWeb(pages=50_000, hosts=10, text=Text(topics=("law",)))
    bodies = [web.page(url).body for url in links_of(web, web.seeds(80)[0])[:60]]
    texts = [re.sub(rb"<[^>]+>", b"", body) for body in bodies]
    sentences = [set(re.findall(rb"[A-Z][a-z ]{30,}\.", text)) for text in texts]
    assert len(set(bodies)) == len(bodies)
    assert all(len(a & b) < 0.3 * min(len(a), len(b)) for a, b in pairwise(sentences))


def test_locality_is_the_share_of_links_that_stay_in_the_topic():
    web = GeneratedWeb(pages=100_000, hosts=100, text=SMALL, links=Links(locality=0.7, same_host=0.4, hubs=0))
    urls = [url for seed in web.seeds(80, 5) for url in links_of(web, seed)]
    pairs = [(url, target) for url in Random(1).sample(urls, 60) for target in links_of(web, url)]
    stay = sum(web.topic_of(url) == web.topic_of(target) for url, target in pairs) / len(pairs)
    same = sum(url.split("/")[2] == target.split("/")[2] for url, target in pairs) / len(pairs)
    assert stay == pytest.approx(0.7, abs=0.03)
    assert same == pytest.approx(0.4, abs=0.03)


def test_a_matrix_says_where_the_links_of_a_topic_lead():
    matrix = ((0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0))
    web = GeneratedWeb(pages=30_000, hosts=30, text=Text(("law", "music", "travel"), (1000, 3000)))
    web = GeneratedWeb(web.pages, web.hosts, text=web.text, links=Links(matrix=matrix, hubs=0))
    leads: dict[str, Counter[str]] = {topic: Counter() for topic in web.text.topics}
    for url in web.seeds(80, 30):
        leads[web.topic_of(url)].update(map(web.topic_of, links_of(web, url)))
    assert set(leads["law"]) == {"music"}
    assert set(leads["music"]) == {"law", "travel"}
    assert set(leads["travel"]) == {"travel"}
    assert leads["music"]["law"] == pytest.approx(leads["music"]["travel"], rel=0.3)


@pytest.mark.parametrize("quality", [0.0, 0.5, 1.0])
def test_anchor_quality_is_the_share_of_anchors_that_name_the_topic(quality):
    web = GeneratedWeb(pages=10_000, hosts=20, text=SMALL, links=Links(anchor_quality=quality, hubs=0))
    named = total = 0
    for url in web.seeds(80, 20):
        for href, anchor in re.findall(r'href="([^"]+)">([^<]+)</a>', web.page(url).body.decode()):
            if href != "/":
                topic = web.topic_of(urljoin(url, href))
                named += not {topic, *web.words_of(topic)}.isdisjoint(words(anchor))
                total += 1
    assert named / total == pytest.approx(quality, abs=0.05)


def test_hubs_have_twice_the_links_nearly_all_in_the_topic():
    plain, hubs = (
        GeneratedWeb(pages=5000, hosts=10, text=SMALL, links=Links(count=(20, 20), hubs=share)) for share in (0, 0.8)
    )
    url = next(url for url in links_of(hubs, hubs.seeds(80)[0]) if len(links_of(hubs, url)) > 30)
    assert len(links_of(plain, url)) <= 20
    targets = links_of(hubs, url)
    assert sum(hubs.topic_of(target) == hubs.topic_of(url) for target in targets) > 0.85 * len(targets)


def test_dead_ends_lead_nowhere():
    web = GeneratedWeb(pages=2000, hosts=10, text=SMALL, links=FEW, oddities=Oddities(dead_ends=0.3))
    found = crawl(web, 1000)
    dead = sum(not links_in(page, url) for url, page in found.items())
    assert dead / len(found) == pytest.approx(0.3, abs=0.05)


def test_duplicates_have_the_bytes_and_the_topic_of_another_page_of_the_host():
    web = GeneratedWeb(pages=2000, hosts=10, text=SMALL, links=FEW, oddities=Oddities(duplicates=0.2))
    found = crawl(web)
    topics: dict[tuple[str, bytes], set[str]] = {}
    for url, page in found.items():
        topics.setdefault((url.split("/")[2], page.body), set()).add(page.topic)
    assert 1 - len(topics) / len(found) == pytest.approx(0.2, abs=0.04)
    assert all(len(of_one_body) == 1 for of_one_body in topics.values())
    assert len({body for _, body in topics}) == len(topics)  # no host repeats another


def test_redirects_lead_to_a_page_of_the_same_topic():
    web = GeneratedWeb(pages=2000, hosts=10, text=SMALL, links=FEW, oddities=Oddities(redirects=0.2))
    found = crawl(web)
    moved = {url: dict(page.headers)["Location"] for url, page in found.items() if page.status == 301}
    assert len(moved) / len(found) == pytest.approx(0.2, abs=0.04)
    assert all(found[target].status == 200 for target in moved.values())
    assert all(web.topic_of(url) == web.topic_of(target) for url, target in moved.items())


def test_private_pages_are_those_that_robots_txt_forbids():
    web = GeneratedWeb(pages=2000, hosts=10, text=SMALL, links=FEW, oddities=Oddities(private=0.1))
    found = crawl(web)
    assert sum("/private/" in url for url in found) / len(found) == pytest.approx(0.1, abs=0.03)
    robots = web.respond("http://127.0.0.1:80/robots.txt", {})
    assert robots.headers == (("Content-Type", "text/plain"),)
    assert "Disallow: /private/" in robots.body.decode()


@pytest.mark.parametrize("length", [1, 3])
def test_chains_hide_pages_behind_pages_of_another_topic(length):
    web = GeneratedWeb(pages=1500, hosts=10, text=SMALL, links=Links(count=(20, 40), chains=length))
    into: dict[str, set[str]] = {}
    for url, page in crawl(web).items():
        for target in links_in(page, url):
            into.setdefault(target, set()).add(url)
    hidden = [url for url in into if re.search(r"-\d*[38]\.html", url)]
    assert len(into) > 1450
    assert len(hidden) == 300
    for url in hidden:
        behind = {url}
        for _ in range(length):
            behind = set.union(*(into[one] for one in behind))
            assert all(web.topic_of(one) != web.topic_of(url) for one in behind)


def test_a_trap_never_ends_but_is_one_host():
    web = GeneratedWeb(pages=300, hosts=5, text=SMALL, oddities=Oddities(trap=True))
    found = crawl(web, 800)
    trapped = [url for url in found if "//trap" in url or web.topic_of(url) == ""]
    assert len(found) == 800
    assert len({url.split("/")[2] for url in trapped}) == 1
    assert any("/calendar/2025/" in url for url in trapped)
    assert any(url.count("/day") > 3 for url in trapped)
    assert "Disallow" in web.respond(trapped[0].split("/calendar")[0] + "/robots.txt", {}).body.decode()


def test_the_last_host_is_slow_and_the_one_before_fails():
    web = GeneratedWeb(pages=2000, hosts=10, text=SMALL, links=FEW, oddities=Oddities(slow_s=2.5, failing=True))
    found = crawl(web)
    *others, failing, slow = (url.split("/")[2] for url in web.seeds(80, 10))
    delays = {url.split("/")[2]: page.delay_s for url, page in found.items()}
    assert delays == {**dict.fromkeys(others, 0.0), failing: 0.0, slow: 2.5}
    failures = Counter(page.status for url, page in found.items() if failing in url)
    assert set(failures) == {404, 500, 503, CLOSE}
    assert {page.status for url, page in found.items() if failing not in url} == {200}
    assert any(dict(page.headers).get("Retry-After") == "2" for page in found.values())


def test_hosts_are_names_or_addresses():
    named, numbered = GeneratedWeb(pages=400, hosts=300), GeneratedWeb(pages=400, hosts=300, ip_hosts=True)
    assert all(re.fullmatch(r"http://[a-z]+\d+\.localhost:80/", url) for url in named.seeds(80, 300))
    assert numbered.seeds(80)[:2] == ["http://127.0.0.2:80/", "http://127.0.0.3:80/"]
    assert numbered.seeds(80, 300)[-1] == "http://127.0.1.45:80/"
    for web in (named, numbered):
        assert len(set(web.seeds(80, 300))) == 300
        assert all(web.page(url) for url in web.seeds(80, 300)[::50])


def test_seeds_of_a_topic_are_about_it():
    web = GeneratedWeb(hosts=30)
    assert [web.topic_of(url) for url in web.seeds(80, 9, "law")] == ["law"] * 3
    assert len(web.seeds(80, 9)) == 9
    with pytest.raises(BadInput, match="no topic 'chess'; there are astronomy, "):
        web.seeds(80, topic="chess")
    with pytest.raises(BadInput, match="no topic 'chess'"):
        web.words_of("chess")


@pytest.mark.parametrize(
    ("web", "message"),
    [
        (GeneratedWeb(pages=5, hosts=6), "5 pages cannot fill 6 hosts"),
        (GeneratedWeb(hosts=0), "cannot fill 0 hosts"),
        (GeneratedWeb(text=Text(topics=())), "at least one topic"),
        (GeneratedWeb(links=Links(matrix=((1.0,),))), "10 rows and 10 columns"),
        (GeneratedWeb(oddities=Oddities(redirects=0.9)), "exceed 0.8"),
    ],
)
def test_what_cannot_be_a_web_is_refused(web, message):
    with pytest.raises(BadInput, match=message):
        web.seeds(80)


@given(
    pages=st.integers(1, 200), hosts=st.integers(1, 12), topics=st.sampled_from([1, 2, 12]), chains=st.integers(0, 3)
)
def test_every_link_of_every_web_leads_to_a_page(pages, hosts, topics, chains):
    odd = Oddities(dead_ends=0.1, duplicates=0.1, redirects=0.1, private=0.1, trap=True)
    text, links = Text(topic_names(topics), (500, 900)), Links((2, 5), chains=chains)
    web = GeneratedWeb(max(pages, hosts), hosts, text=text, links=links, oddities=odd)
    for url in web.seeds(80, 2):
        assert all(web.page(link) for link in links_of(web, url))
