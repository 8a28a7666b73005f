"""The application as a whole: the API document, errors, folders, the command, crawls that it starts."""

import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import lycosa
from lycosa import remote
from lycosa.cli import mount_the_rest
from lycosa.console import api
from lycosa.console.app import all_routes
from lycosa.console.folders import Folders
from lycosa.console.site import shown
from lycosa.control import Request
from lycosa.errors import BadInput
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server

WEB = GeneratedWeb(pages=5_000, hosts=5, seed=2, text=Text(size_bytes=(1_000, 2_000)))
FETCH = {"delay_s": 0.02, "delay_factor": 0.0, "allow_private": True}
Serve = Callable[[Any], AbstractContextManager[Any]]


def test_the_api_describes_itself(console: TestClient) -> None:
    found = console.get("/api/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    described = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in all_routes() if isinstance(route, api.ApiRoute)}
    for methods in found["paths"].values():
        for operation in methods.values():
            assert operation["summary"].endswith(".")
    refs = {part.split('"')[0] for part in json.dumps(found).split("#/components/schemas/")[1:]}
    assert refs <= set(found["components"]["schemas"])


def test_errors_as_page_line_and_json(console: TestClient) -> None:
    page = console.get("/nowhere")
    assert page.status_code == 404
    assert "<h1>Not found</h1>" in page.text
    line = console.get("/crawls/x/", headers={"HX-Request": "true"})
    assert line.text == "x: there is no such crawl here"
    assert line.headers["content-type"].startswith("text/plain")


def test_a_bug_is_an_answer_too(console: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("lycosa.console.crawls.overview", fail)
    quiet = TestClient(console.app, base_url=str(console.base_url), raise_server_exceptions=False)
    quiet.cookies = console.cookies
    answer = quiet.get("/api/crawls")
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("RuntimeError: oops")


def make(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "crawl.toml").write_text("")


def test_folders_are_found_at_two_levels(tmp_path: Path) -> None:
    for name in ("a", "b/c", "b/d/too-deep", ".hidden", "odd~name", "a/inside"):
        make(tmp_path / name)
    found = Folders([tmp_path])
    assert [*found.all()] == ["a", "b~c"]
    assert found.find("b~c") == tmp_path / "b" / "c"
    assert found.name_of(tmp_path / "b" / "c") == "b~c"
    assert [*Folders([tmp_path / "a", tmp_path / "b"]).all()] == ["a", "c", "d~too-deep"]
    with pytest.raises(BadInput, match="no place for a new crawl"):
        Folders([tmp_path / "a"]).place_for("x")
    with pytest.raises(BadInput, match="no such folder"):
        Folders([tmp_path / "nothing"])


def test_folders_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("x/one", "y/one", "z"):
        make(tmp_path / name)
    roots = Folders([tmp_path / "x", tmp_path / "y"])
    assert [*roots.all()] == ["x~one", "y~one"]
    same = Folders([tmp_path / "x" / "one", tmp_path / "y" / "one"])
    assert [*same.all()] == ["one", "one~2"]


def test_text_from_the_web_is_short_and_harmless() -> None:
    assert shown("a\nb\x1b[31m\u202ec") == "a b [31m c"
    assert shown("x" * 1_000) == "x" * 300 + " …"


def run(*arguments: str) -> tuple[int, str]:
    from typer.testing import CliRunner

    found = CliRunner().invoke(mount_the_rest(), ["console", *arguments])
    return found.exit_code, str(found.exception)


def test_what_the_command_refuses(tmp_path: Path) -> None:
    code, words = run(str(tmp_path), "--host", "0.0.0.0")
    assert code
    assert "others on the network could control your crawls" in words
    assert "no such folder" in run(str(tmp_path / "nothing"), "--port", "0")[1]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot listen there" in run(str(tmp_path), "--port", str(taken.getsockname()[1]))[1]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("lycosa.console.app")
    monkeypatch.setitem(sys.modules, "lycosa.console.app", None)
    assert "pip install 'lycosa[console]'" in run(str(tmp_path / "nothing"))[1]


def test_a_crawl_started_here_is_a_process_of_its_own(console: TestClient, crawls: Path, serve: Serve) -> None:
    """Started, paused, resumed and stopped from the console; another client of its socket sees the same."""
    with serve(Server(WEB)) as server:
        folder = crawls / "long"
        topic = {"kind": "keywords", "words": ["astronomy"]}
        lycosa.CrawlFolder.new(folder, WEB.seeds(server.port), topic, fetch=FETCH, limits={"pages": 4_000})
        order = "/api/crawls/long/orders/"
        assert console.post(f"{order}start").json()["crawl"]["state"] in ("starting", "crawling")
        assert "running already" in console.post(f"{order}start").json()["error"]
        job = console.app.state.console_site.jobs._jobs[folder]  # type: ignore[attr-defined]
        try:
            while not remote.is_listening(folder):
                assert job.process.poll() is None, job.problem()
            assert os.getsid(job.process.pid) == job.process.pid != os.getsid(0)
            assert console.post(f"{order}pause").json()["crawl"]["state"] in ("paused", "crawling")
            assert remote.reach(folder, Request("status"))["state"] == "paused"
            remote.reach(folder, Request("resume"))
            assert console.post(f"{order}stop").json()["crawl"]["state"] == "ended"
        except BaseException:
            job.process.terminate()
            raise
        assert job.process.returncode == 130


def test_a_crawl_that_cannot_start_says_why(console: TestClient, crawls: Path) -> None:
    (crawls / "unborn" / "crawl.toml").write_text('seeds = ["http://example.org/"]\n[topic]\nkind = "nonsense"\n')
    console.post("/api/crawls/unborn/orders/start")
    console.app.state.console_site.jobs._jobs[crawls / "unborn"].process.wait()  # type: ignore[attr-defined]
    found = console.get("/api/crawls/unborn").json()
    assert found["state"] == "interrupted"
    assert "there is no judge" in found["status"] or "nonsense" in found["status"]
