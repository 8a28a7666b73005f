"""A console on a small finished crawl of a generated web, and a real browser: chromium, driven by Playwright."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.testclient import TestClient

import lycosa
from lycosa.console.app import close, make_app
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
def make_console() -> Iterator[MakeConsole]:
    """A browser at the console of a root; it has exchanged its token unless told otherwise."""
    made = []

    def make(root: Path, read_only: bool = False, entered: bool = True, access: Access | None = None) -> TestClient:
        access = access or Access()
        app = make_app(Site(Folders([root]), Jobs(), read_only), access)
        made.append(app)
        client = TestClient(app, base_url=f"http://{HOST}", headers=ORIGIN, follow_redirects=False)
        if entered:
            assert client.get(f"/enter?token={access.token}").status_code == 200
        return client

    yield make
    for app in made:
        close(app)


@pytest.fixture
def console(crawls: Path, make_console: MakeConsole) -> TestClient:
    return make_console(crawls)


NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("LYCOSA_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "")
LEFT_OUT = "no chromium found (apt-get install chromium, or set LYCOSA_CHROMIUM): the browser tests are left out"
_ARGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()


@contextmanager
def chromium() -> Iterator[Browser]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*_ARGS, *(["--no-sandbox"] if is_root else [])]
        )
        yield found
        found.close()


class Watched:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.context.add_init_script(_WATCH)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))

    def check(self) -> None:
        """Nothing has gone wrong on the present page."""
        assert self.page.evaluate("window.violations") == []
        assert self.problems == []

    def accessibility(self) -> list[str]:
        """What axe-core calls serious or worse."""
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['html'][:200]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]


@contextmanager
def console_process(root: Path, *options: str) -> Iterator[str]:
    """The start address of a console in a process of its own."""
    command = [sys.executable, "-m", "lycosa", "console", str(root), "--port", "0", "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: while it is open, an event loop runs, and no asynchronous test could have its own."""
    if not CHROMIUM:
        pytest.skip(LEFT_OUT)
    with chromium() as found:
        yield found


@pytest.fixture
def watch(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Opens pages; at the end of the test nothing may have gone wrong on the last of them."""
    opened: list[Watched] = []

    def new(**options: Any) -> Watched:
        opened.append(Watched(browser, **options))
        return opened[-1]

    yield new
    for one in opened:
        one.context.close()


@pytest.fixture
def open_console() -> Callable[..., AbstractContextManager[str]]:
    return console_process
