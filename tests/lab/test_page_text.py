"""Pages read like pages: well-formed, with their links, of the size asked for."""

import re
from html.parser import HTMLParser
from random import Random

import pytest

from lycosa.lab.page_text import Anchor, Text, page_text
from lycosa.lab.vocabulary import COMMON_WORDS, FUNCTION_WORDS, TOPICS, topic_names, topic_words

VOID = {"meta", "link"}


class Tags(HTMLParser):
    """Are all tags closed in the order they were opened?"""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.hrefs: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "a":
            self.hrefs.append(dict(attrs)["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("topic", [-1, 0, 3])
@pytest.mark.parametrize("size", [800, 30_000, 200_000])
@pytest.mark.parametrize("count", [0, 5, 80])
def test_a_page_is_well_formed_and_has_its_links(topic, size, count):
    links = [Anchor(f"/{number}", number % 5 - 1) for number in range(count)]
    body = page_text(Text(), 1).page(Random(2), topic, links, size)
    tags = Tags()
    tags.feed(body.decode())
    assert tags.open == []
    assert sorted(tags.hrefs) == sorted(["/", *(link.href for link in links)])
    if count and size == 800:  # its links alone take more room
        assert size < len(body) < size + 220 * count
    else:
        assert len(body) == size


def test_half_of_the_pages_are_plain_ascii_and_half_of_the_titles_name_the_topic():
    makers = page_text(Text(), 1)
    pages = [makers.page(Random(number), 2, [], 3000) for number in range(200)]
    assert 70 < sum(page.isascii() for page in pages) < 130
    titles = [re.search(rb"<title>([^<]+)</title>", page)[1].decode().lower() for page in pages]
    assert 70 < sum(any(word in title for word in TOPICS["medicine"]) for title in titles) < 140


def test_the_same_seed_gives_the_same_phrases():
    assert page_text(Text(), 5) is page_text(Text(), 5)
    assert page_text(Text(), 5).anchors != page_text(Text(), 6).anchors


def test_topics_have_words_of_their_own():
    assert all(len(words) >= 55 and len(set(words)) == len(words) for words in TOPICS.values())
    assert all(word.isalpha() and word.islower() for words in TOPICS.values() for word in words)
    assert not set(FUNCTION_WORDS) & {word for words in TOPICS.values() for word in words}
    assert len(COMMON_WORDS) > 200


def test_any_number_of_topics_can_be_had():
    assert topic_names(2) == ("astronomy", "cooking")
    assert topic_names(12)[-2:] == ("subject11", "subject12")
    assert topic_words("subject11") == topic_words("subject11") != topic_words("subject12")
    assert topic_names(0) == ()
