"""The harvest of the last pages, and the last one on topic, with the verdicts of now."""

from lycosa.output.recent import PAGES, Recent
from lycosa.types import Link, Page, Reply, Verdict, Visit

GOOD, BAD = Verdict(0.9, True), Verdict(0.1)


def visit(number: int, verdict: Verdict, error: str = "") -> Visit:
    url = f"http://a.example/{number}"
    reply = Reply(Link(url), url=f"{url}/", status=200, error=error)
    return Visit(reply, Page(url, title=f"page {number}"), verdict, digest="" if error else str(number))


def good(number: int) -> dict[str, str]:
    return {"url": f"http://a.example/{number}/", "title": f"page {number}"}


def test_nothing_is_known_at_first_and_failures_do_not_count() -> None:
    recent = Recent()
    recent.write(visit(0, GOOD, error="timeout"))
    assert recent.summary() == {"recent_pages": 0, "recent_harvest_rate": 0.0, "last_good": {}}


def test_only_the_last_pages_count_but_the_last_good_one_is_remembered() -> None:
    recent = Recent()
    for number in range(PAGES):
        recent.write(visit(number, GOOD if number < PAGES // 2 else BAD))
    assert recent.summary() == {"recent_pages": PAGES, "recent_harvest_rate": 0.5, "last_good": good(PAGES // 2 - 1)}
    for number in range(PAGES, 2 * PAGES):
        recent.write(visit(number, BAD))
    assert recent.summary() == {"recent_pages": PAGES, "recent_harvest_rate": 0.0, "last_good": good(PAGES // 2 - 1)}


def test_revised_verdicts_count_as_they_are_now() -> None:
    recent = Recent()
    for number in range(4):
        recent.write(visit(number, BAD))
    recent.hear([("http://a.example/1", GOOD), ("http://a.example/2", GOOD), ("http://a.example/unknown", GOOD)])
    assert recent.summary() == {"recent_pages": 4, "recent_harvest_rate": 0.5, "last_good": good(2)}
    recent.hear([("http://a.example/2", BAD)])
    assert recent.summary() == {"recent_pages": 4, "recent_harvest_rate": 0.25, "last_good": good(1)}
