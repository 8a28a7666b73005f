"""What do a page's references mean?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse.base_url import Addresses
from lycosa.urls import Base

PAGES = ["http://a.example/x/y", "http://a.example/z", "https://a.example/x/y", "http://b.example:81/x/y"]
REFERENCES = st.one_of(
    st.sampled_from(
        ["/", "//", "/\\c.example/", "/\t/c.example", "//c.example/d", "http://a.example/x", "http:x", "https:"]
    ),
    st.text(),
    st.text().map("/".__add__),
    st.text().map("http://a.example".__add__),
)


@given(st.lists(REFERENCES))
def test_memory_changes_nothing(references: list[str]) -> None:
    addresses = Addresses()
    for _ in range(2):
        for page in PAGES:
            assert [addresses.of(page).join(one) for one in references] == [Base(page).join(one) for one in references]


def test_what_one_site_says_about_another_is_not_believed() -> None:
    addresses = Addresses()
    for poison in ("http://b.example /about", "http://b.example//c.example/", "/aboutx", "http:///about"):
        addresses.of("http://a.example/").join(poison)
    assert addresses.of("http://b.example/").join("/about") == "http://b.example/about"
    assert addresses.of("http://b.example/").join("//c.example/") == "http://c.example/"


def test_the_memory_is_bounded() -> None:
    addresses = Addresses(most=10)
    address = addresses.of("http://a.example/")
    for number in range(100):
        assert address.join(f"/{number}") == f"http://a.example/{number}"
        assert _kept(addresses) <= 10
    for number in range(100):
        addresses.of(f"http://{number}.example/").join("/")
        assert _kept(addresses) <= 10


def _kept(addresses: Addresses) -> int:
    return len(addresses._sites) + sum(map(len, addresses._sites.values()))


def test_long_references_are_not_kept() -> None:
    addresses = Addresses()
    assert addresses.of("http://a.example/").join("/" + "x" * 1000) == "http://a.example/" + "x" * 1000
    assert _kept(addresses) == 1  # the site


@pytest.mark.parametrize("start", ["/", "http://a.example/", ""])
def test_endless_urls_are_none(start: str) -> None:
    assert Addresses().of("http://a.example/").join(start + "x" * 10_000) == ""


def test_a_page_on_disk_has_an_address_too() -> None:
    address = Addresses().of("file:///page.html")
    assert address.join("http://a.example/x") == "http://a.example/x"
    assert address.join("/x") == address.join("x") == ""


def test_no_url_is_no_address() -> None:
    with pytest.raises(ValueError):
        Addresses().of("nowhere")
