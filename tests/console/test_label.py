"""Labelling in the console: the same questions as on the command line, and what the answers change."""

import re
from pathlib import Path

from starlette.testclient import TestClient

from lycosa import labelling
from lycosa.store import labels
from lycosa.store.db import CrawlDb


def asked(page: str) -> str:
    found = re.search(r'name="url" value="([^"]+)"', page)
    assert found
    return found[1]


def stored(crawls: Path) -> dict[str, bool]:
    db = CrawlDb(crawls / "stars" / "crawl.db", readonly=True).open()
    try:
        return labels.answers(db)
    finally:
        db.close()


def test_the_questions_are_those_of_the_command_line(console: TestClient, crawls: Path) -> None:
    wanted = [question.page.url for question in labelling.questions(crawls / "stars", 20).questions]
    assert console.get("/api/crawls/stars/labels/next").json() == wanted
    page = console.get("/crawls/stars/label").text
    assert asked(page) == wanted[0]
    assert "Page 1 of 20" in page
    assert "Speaks for it" in page


def test_answers_skip_undo_and_what_they_changed(console: TestClient, crawls: Path) -> None:
    path = "/crawls/stars/label"
    given = {}
    page = console.get(path).text
    for key in "ysnyu":
        url = asked(page)
        said = "on topic</strong>" in page and "<strong>on topic" in page
        answer = key if key in "su" else ("n" if said else "y")
        page = console.post(path, data={"key": answer, "url": url}).text
        if answer in "yn":
            given[url] = answer == "y"
    given.popitem()  # the last one was undone
    assert stored(crawls) == given
    done = console.post(path, data={"key": "finish", "url": asked(page)}).text
    assert re.search(r"Your 2 labels changed ([2-9]|\d\d+) verdicts", done)
    assert "2 labels so far" in done
    assert "Page 1 of" in console.post(path, data={"key": "again"}).text


def test_an_answer_to_a_page_that_is_no_longer_asked_is_ignored(console: TestClient, crawls: Path) -> None:
    path = "/crawls/stars/label"
    first = asked(console.get(path).text)
    console.post(path, data={"key": "y", "url": first})
    console.post(path, data={"key": "n", "url": first})  # a double click
    assert stored(crawls) == {first: True}


def test_what_is_not_an_answer(console: TestClient) -> None:
    answer = console.post("/crawls/stars/label", data={"key": "x"}, headers={"HX-Request": "true"})
    assert answer.status_code == 400
    assert answer.text == "'x' is not an answer: y, n, s or u"


def test_labels_by_the_api(console: TestClient, crawls: Path) -> None:
    url = console.get("/api/crawls/stars/labels/next").json()[0]
    body = {"url": url, "on_topic": True, "chosen": "random"}
    found = console.post("/api/crawls/stars/labels", json=body).json()
    assert found["on_topic"] == 1
    assert found["precision"][0] == 1.0
    wrong = console.post("/api/crawls/stars/labels", json={"url": "nonsense", "on_topic": True})
    assert wrong.status_code == 400
    assert "not a web URL" in wrong.json()["error"]
    assert console.post("/api/crawls/stars/labels", content=b"{").status_code == 400


def test_a_crawl_without_pages(console: TestClient) -> None:
    answer = console.get("/crawls/unborn/label")
    assert answer.status_code == 409
    assert "nothing crawled yet" in answer.text
