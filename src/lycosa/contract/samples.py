"""A small, fixed crawl with some of everything, on which the contract suites try parts."""

from collections.abc import Sequence

from lycosa.types import Link, Page, Reply, Verdict, Visit

_HOSTS = ("a.example", "b.example", "c.example")
_WORDS = ("crawler", "index", "web", "weather", "caf\u00e9", "2009", "\u8718\u86db", "the")
_CLASSES = ("CH", "DH", "PH", "SP")


def web() -> list[Visit]:
    """A small, fixed crawl with some of everything."""
    pages = [_page(number) for number in range(12)]
    odd = odd_visits()
    return [*pages[:4], *odd[:3], *pages[4:8], *odd[3:], *pages[8:], pages[2]]


def odd_visits() -> list[Visit]:
    """Visits that a strategy must be able to handle."""
    link = Link("http://a.example/odd", "http://a.example/p0", "odd", 1)
    good = Reply(link, url=link.url, status=200, content_type="text/html", body=b"<p>", at=5.0)
    sitemap = Page(link.url, listed=(Link("http://c.example/new"),))
    return [
        Visit(Reply(link, error="timeout", at=1.0), score=0.5),
        Visit(Reply(link, url=link.url, status=404, error="http-404", at=2.0), score=0.0),
        Visit(Reply(link, url=link.url, error="robots", at=3.0)),
        Visit(good, digest="d0", duplicate_of="http://a.example/p0", score=1.0),
        Visit(good, Page(link.url), Verdict(), score=0.5, digest="d1"),
        Visit(good, Page(link.url, words=("web", "index")), Verdict(0.9, True, "PH", {"PH": 1.0}), 0.5, "d2"),
        Visit(good, sitemap),
    ]


def _page(number: int) -> Visit:
    """A page in the middle of a crawl; the first three are seeds, one in five was redirected, one has many links."""
    url = _url(number)
    seed = number < 3
    asked = Link(
        url, "" if seed else _url(number // 2), "" if seed else _WORDS[number % 8], 0 if seed else 1 + number // 4
    )
    answered = f"{url}?moved" if number % 5 == 4 else url
    text = tuple(_WORDS[(number * 3 + place * place) % 8] for place in range(40))
    links = tuple(_link(answered, text, number, place) for place in range(300 if number == 6 else 2 + number % 7))
    chances = [(number * 7 + place * 5) % 11 + 1 for place in range(4)]
    classes = {name: chance / sum(chances) for name, chance in zip(_CLASSES, chances, strict=True)}
    verdict = Verdict(classes["PH"], classes["PH"] > 0.4, max(classes, key=classes.__getitem__), classes, {"web": 0.1})
    reply = Reply(asked, url=answered, status=200, content_type="text/html", body=b"<html>", at=10.0 + number)
    page = Page(answered, f"page {number}", " ".join(text), text, links, simhash=number)
    return Visit(reply, page, verdict, 0.0 if seed else 0.3, f"digest {number}")


def _link(source: str, text: Sequence[str], number: int, place: int) -> Link:
    """The first link of a page leads to itself; most others lead to pages that are linked from elsewhere too."""
    start = place % len(text)
    end = min(len(text), start + place % 3)
    url = source if place == 0 else _url(number + place)
    return Link(url, source, " ".join(text[start:end]), 2, start, end)


def _url(number: int) -> str:
    return f"http://{_HOSTS[number % 3]}/p{number}"
