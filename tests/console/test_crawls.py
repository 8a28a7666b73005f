"""The list of crawls, and what can be done with each."""

from pathlib import Path

from starlette.testclient import TestClient


def test_all_crawls_are_listed_with_what_they_found(console: TestClient) -> None:
    page = console.get("/").text
    assert "stars" in page
    assert "limit of 60 pages" in page
    assert "not started yet" in page
    found = {crawl["name"]: crawl for crawl in console.get("/api/crawls").json()}
    assert found["stars"]["state"] == "ended"
    assert found["stars"]["pages"] == 60
    assert found["unborn"]["state"] == "new"


def test_a_broken_crawl_toml_is_named(console: TestClient, crawls: Path) -> None:
    (crawls / "unborn" / "crawl.toml").write_text("seeds = [\n")
    found = console.get("/api/crawls/unborn").json()
    assert found["state"] == "broken"
    assert "not valid TOML" in found["status"]


def test_a_crawl_that_is_not_there(console: TestClient) -> None:
    assert console.get("/crawls/nothing/").status_code == 404
    assert console.get("/api/crawls/nothing").json() == {"error": "nothing: there is no such crawl here"}


def test_orders_need_a_running_crawl(console: TestClient) -> None:
    answer = console.post("/api/crawls/stars/orders/pause")
    assert answer.status_code == 400
    assert answer.json() == {"error": "stars: no crawl is running here"}
    assert "no such order" in console.post("/api/crawls/stars/orders/dance").json()["error"]
