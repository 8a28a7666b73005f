"""A console on a small finished crawl of a generated web."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import lycosa
from lycosa.console.app import make_app
from lycosa.console.folders import Folders
from lycosa.console.jobs import Jobs
from lycosa.console.security import Access
from lycosa.console.site import Site
from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server

HOST = "127.0.0.1:8642"
ORIGIN = {"Origin": f"http://{HOST}"}
TOPIC = "astronomy"
WEB = GeneratedWeb(pages=400, hosts=8, seed=3, text=Text(size_bytes=(1_500, 3_000)), oddities=Oddities(failing=True))
POLITE_TO_OURSELVES = {
    "delay_s": 0.001,
    "delay_factor": 0.0,
    "allow_private": True,
    "focus": 0.0,
    "retries": 0,
    "max_delay_s": 0.05,
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Any], AbstractContextManager[Any]]) -> Path:
    """A crawl folder `stars` with 60 pages, for tests that only read; `crawls` has a copy to change."""
    folder = tmp_path_factory.mktemp("finished") / "stars"
    with serve(Server(WEB)) as server:
        topic = {"kind": "keywords", "words": [TOPIC, *WEB.words_of(TOPIC)[:8]]}
        made = lycosa.CrawlFolder.new(
            folder, WEB.seeds(server.port, 4), topic, fetch=POLITE_TO_OURSELVES, limits={"pages": 60}
        )
        summary = made.crawl()
    assert summary["pages"] == 60
    return folder


@pytest.fixture
def crawls(tmp_path: Path, finished: Path) -> Path:
    """A root with one finished crawl `stars` and one that has not been started, `unborn`."""
    root = tmp_path / "crawls"
    shutil.copytree(finished, root / "stars")
    lycosa.CrawlFolder.new(root / "unborn", ["http://example.org/"], {"kind": "keywords", "words": ["comet"]})
    return root


MakeConsole = Callable[..., TestClient]


@pytest.fixture
def make_console() -> MakeConsole:
    """A browser at the console of a root; it has exchanged its token unless told otherwise."""

    def make(root: Path, read_only: bool = False, entered: bool = True, access: Access | None = None) -> TestClient:
        access = access or Access()
        app = make_app(Site(Folders([root]), Jobs(), read_only), access)
        client = TestClient(app, base_url=f"http://{HOST}", headers=ORIGIN, follow_redirects=False)
        if entered:
            assert client.get(f"/enter?token={access.token}").status_code == 200
        return client

    return make


@pytest.fixture
def console(crawls: Path, make_console: MakeConsole) -> Iterator[TestClient]:
    with make_console(crawls) as client:
        yield client
