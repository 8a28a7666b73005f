"""What does a page say about itself?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse.notes import Notes, forbids_following, forbids_link, language


@pytest.mark.parametrize(
    ("directives", "forbidden"),
    [
        ("", False),
        ("nofollow", True),
        ("none", True),
        ("NoIndex,NoFollow", True),
        ("noindex", False),
        ("index, follow", False),
        ("nofollower", False),
        ("lycosa: nofollow", True),
        ("LYCOSA: noindex, nofollow", True),
        ("googlebot: nofollow", False),
        ("googlebot: noindex, nofollow", False),
        ("googlebot: nofollow, lycosa: noindex", False),
        ("googlebot: noindex, lycosa: none", True),
        ("noindex, googlebot: nofollow", False),
        ("nofollow, googlebot: noindex", True),
        ("unavailable_after: 25 Jun 2030 15:00:00 GMT, nofollow", True),
        ("unavailable_after: 25 Jun 2030 15:00:00 GMT", False),
        ("max-snippet:-1, max-image-preview: large, nofollow", True),
        ("follow, max-snippet:-1", False),
        (" , :, ::nofollow", False),
    ],
)
def test_robots_directives(directives: str, forbidden: bool) -> None:
    assert forbids_following(directives, "lycosa") is forbidden


@pytest.mark.parametrize(
    ("rel", "forbidden"),
    [
        ("nofollow", True),
        ("NOFOLLOW noopener", True),
        ("ugc", True),
        ("sponsored", True),
        ("follow", False),
        ("", False),
    ],
)
def test_relations(rel: str, forbidden: bool) -> None:
    assert forbids_link(rel) is forbidden


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("en", "en"),
        ("EN-us", "en"),
        ("pt_BR", "pt"),
        ("de, fr", "de"),
        (" fr ", "fr"),
        ("eng", ""),
        ("x", ""),
        ("e1", ""),
        ("", ""),
    ],
)
def test_languages(tag: str, expected: str) -> None:
    assert language(tag) == expected


def test_the_first_of_each_counts() -> None:
    notes = Notes("lycosa")
    for number in ("1", "2"):
        notes.read("base", {"href": f"/base{number}"})
        notes.read("link", {"rel": "canonical", "href": f"/canonical{number}"})
        notes.read("meta", {"http-equiv": "refresh", "content": f"0; url=/refresh{number}"})
    assert (notes.base, notes.canonical, notes.refresh) == ("/base1", "/canonical1", "/refresh1")


def test_once_forbidden_is_forbidden() -> None:
    notes = Notes("lycosa")
    notes.read("meta", {"name": "robots", "content": "nofollow"})
    notes.read("meta", {"name": "lycosa", "content": "follow"})
    assert not notes.may_follow


def test_tags_without_what_they_need_say_nothing() -> None:
    notes = Notes("lycosa")
    for tag in ("base", "link", "meta", "title", ""):
        notes.read(tag, {})
        notes.read(tag, {"href": None, "rel": None, "name": None, "content": None})
    notes.read("link", {"rel": "canonical"})
    notes.read("meta", {"name": "robots"})
    assert notes.may_follow
    assert (notes.base, notes.canonical, notes.refresh, notes.language) == ("", "", "", "")


@given(st.text(), st.text())
def test_any_content_is_read(name: str, content: str) -> None:
    notes = Notes("lycosa")
    for key in (name, "robots", "refresh", "language"):
        notes.read("meta", {"name": key, "content": content})
    forbids_following(content, "lycosa")
