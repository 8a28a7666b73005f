"""The console in a real browser: its whole story, hostile pages, and whether everybody can use it."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import lycosa
from lycosa import control
from lycosa.errors import BadInput
from lycosa.lab.answer import Answer
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server

Watch = Callable[..., Any]
OpenConsole = Callable[..., AbstractContextManager[str]]
Serve = Callable[[Any], AbstractContextManager[Any]]
WEB = GeneratedWeb(pages=20_000, hosts=12, seed=5, text=Text(size_bytes=(1_500, 3_000)))
SENTENCE = "Astronomy: planets, comets, galaxies and nebulae that astronomers see through a telescope in the night sky."
AT_LEAST_60 = re.compile(r"[6-9]\d|\d{3,}")
pytestmark = pytest.mark.xdist_group("browser")  # one browser at a time


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """A root whose crawls are stopped at the end, whatever happens."""
    root = tmp_path / "crawls"
    root.mkdir()
    yield root
    for folder in root.iterdir():
        with suppress(control.Unreachable, BadInput):
            control.call(folder, control.Request("stop"), wait_for_end=True)


def pages_so_far(page: Page) -> int:
    return int(page.locator("#pages").inner_text().replace(",", ""))


def describe(page: Page, port: int) -> None:
    """Fill in the wizard, and see the sample pages judged and judged again."""
    page.get_by_role("link", name="New crawl").first.click()
    page.get_by_label("Name").fill("night sky")
    page.get_by_label("Seeds, one URL per line").fill("\n".join(WEB.seeds(port, 6)))
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Seconds between two requests to a host").fill("0.05")
    page.get_by_label("Allow pages on this machine").check()
    page.get_by_label("The sentence").fill("Gardens and the plants in them.")
    page.get_by_role("button", name="Fetch samples").click()
    expect(page.locator("#preview")).to_contain_text(re.compile(r"\d+ of 20 on topic"), timeout=60_000)
    before = page.locator("#preview .latest").inner_text()
    page.get_by_label("The sentence").fill(SENTENCE)
    expect(page.locator("#preview pre")).to_contain_text("telescope")
    expect(page.locator("#preview .latest")).not_to_have_text(before)
    assert 'kind = "sentence"' in page.locator("#preview pre").inner_text()
    page.get_by_label("Pages at most", exact=True).fill("15000")


def label_ten(page: Page) -> int:
    """Label by keys, returns the number of changed verdicts. Only the first answer contradicts the judge: ten that do
    can leave no page on topic, and then there is nothing to find."""
    page.get_by_role("link", name="Label").click()
    expect(page).to_have_url(re.compile("/label$"))
    page.wait_for_load_state("load")  # keys are heard once the scripts are there
    for number in range(10):
        expect(page.locator("#label")).to_contain_text(f"Page {number + 1} of", timeout=30_000)
        says_yes = page.locator("#label strong").first.inner_text() == "on topic"
        page.keyboard.press("y" if says_yes == (number > 0) else "n")
    expect(page.locator("#label")).to_contain_text("Page 11 of")
    page.keyboard.press("u")
    expect(page.locator("#label")).to_contain_text("Page 10 of")
    page.keyboard.press("n")
    expect(page.locator("#label")).to_contain_text("Page 11 of")
    page.get_by_role("button", name="Finish").click()
    changed = page.locator("#changed")
    expect(changed).to_contain_text(re.compile(r"Your 10 labels changed \d+ verdict"), timeout=60_000)
    found = re.search(r"changed ([\d,]+)", changed.inner_text())
    assert found
    return int(found[1].replace(",", ""))


def exclude_a_host(page: Page) -> str:
    """The host with the most waiting links, after the number that would be dropped was shown; returns its name."""
    page.get_by_role("link", name="Frontier").click()
    row = page.locator(".hosts tbody tr").first
    name = row.get_by_role("rowheader").inner_text().split()[0]
    row.get_by_role("button", name=re.compile("exclude")).click()
    expect(page.get_by_text(re.compile(r"[\d,]+ queued URLs would be dropped"))).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Exclude for good").click()
    expect(page.locator(".done")).to_contain_text("it is excluded from now on", timeout=30_000)
    return name


def find_and_explain(page: Page) -> None:
    """Search finds a page; the page says what spoke for it, and why it was fetched."""
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Words").fill("telescope")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".result a").first).to_be_visible(timeout=60_000)  # the index is made in the background
    page.locator(".result a").first.click()
    expect(page.get_by_role("heading", name="What spoke for it and against it")).to_be_visible()
    page.get_by_role("link", name="why it was fetched").click()
    expect(page.get_by_role("heading", name="The path from a seed")).to_be_visible()


def start_and_correct(page: Page, port: int) -> str:
    """From a sentence to a running crawl, corrected while it runs; returns the host that was excluded."""
    expect(page.get_by_text("There are no crawls in this folder yet.")).to_be_visible()
    describe(page, port)
    page.get_by_role("button", name="Create and start").click()
    expect(page.locator(".state")).to_have_text("crawling", timeout=60_000)
    expect(page.locator("#harvest canvas")).to_be_visible(timeout=60_000)
    live = page.locator("#live")
    expect(live).to_have_attribute("data-pages", AT_LEAST_60, timeout=120_000)
    expect(live).not_to_have_attribute("data-pages", str(live.get_attribute("data-pages")), timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".state")).to_have_text("paused", timeout=30_000)
    excluded = exclude_a_host(page)
    page.get_by_role("link", name="Live").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".state")).to_have_text("crawling", timeout=30_000)
    assert label_ten(page) > 0
    find_and_explain(page)
    return excluded


def find_again_and_stop(page: Page) -> int:
    """The crawl has gone on without its console; returns its number of pages."""
    expect(page.get_by_role("row", name=re.compile("night sky"))).to_contain_text("crawling")
    page.get_by_role("link", name="night sky").click()
    expect(page.locator(".state")).to_have_text("crawling")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".state")).to_have_text("ended", timeout=60_000)
    expect(page.locator("#status")).to_have_text("stopped by the user")
    seen = pages_so_far(page)
    page.goto("about:blank")  # a page that listens to a console complains when that ends
    return seen


def everything_is_still_there(page: Page, seen: int, excluded: str) -> None:
    expect(page.get_by_role("row", name=re.compile("night sky"))).to_contain_text(f"{seen:,}")
    page.get_by_role("link", name="night sky").click()
    expect(page.locator("#harvest canvas")).to_be_visible()
    page.get_by_role("link", name="Label").click()
    expect(page.locator(".standing")).to_contain_text("10 labels so far")
    page.get_by_role("link", name="Frontier").click()
    expect(page.get_by_text("Excluded so far")).to_contain_text(excluded, timeout=30_000)
    find_and_explain(page)


def test_the_whole_story(running: Path, watch: Watch, open_console: OpenConsole, serve: Serve) -> None:
    watched = watch()
    page: Page = watched.page
    with serve(Server(WEB, cache_bytes=50_000_000)) as server:
        with open_console(running) as start:
            page.goto(start)
            excluded = start_and_correct(page, server.port)
            watched.check()
            page.goto("about:blank")
        with open_console(running) as start:
            page.goto(start)
            seen = find_again_and_stop(page)
            assert seen >= 60
            assert watched.problems == []
        with open_console(running) as start:
            page.goto(start)
            everything_is_still_there(page, seen, excluded)
            watched.check()


HOSTILE = (
    "<script>window.ran=1</script><img src=x onerror='window.ran=2'><svg onload='window.ran=3'>"
    "\"'><b onmouseover=alert(4)>{{7*7}}{%raw%}</title><script>window.ran=5</script>\u202egnp.exe\u2066\x1b]0;owned\x07"
)


class HostileWeb:
    """Pages whose titles, texts, anchors and URLs try to run."""

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        path = "/" + url.split("/", 3)[3]
        if path == "/robots.txt":
            return Answer(status=404)
        title = "comet " + (HOSTILE if path != "/big" else "A" * 2_000_000 + HOSTILE)
        escaped = title.replace("&", "&amp;").replace("<", "&lt;")
        text = f"comet comet {HOSTILE.replace('&', '&amp;').replace('<', '&lt;')} " * 3
        links = "".join(
            f'<a href="{href}">comet {HOSTILE}</a>'
            for href in ("/big", "/a?%3Cscript%3Ewindow.ran=6%3C/script%3E", "/b'onload='window.ran=7", "javascript:8")
        )
        return Answer(
            body=f"<title>{escaped}</title><script>window.ran=9</script><p>{path}: {text}</p>{links}".encode()
        )


def hostile_crawl(root: Path, serve: Serve) -> str:
    """A finished crawl of hostile pages, in a folder with a hostile name."""
    name = "<img src=x onerror=window.ran=10>"
    fetch = {"delay_s": 0.001, "delay_factor": 0.0, "allow_private": True, "max_delay_s": 0.05}
    with serve(Server(HostileWeb())) as server:
        seeds = [f"http://localhost:{server.port}/"]
        made = lycosa.CrawlFolder.new(root / name, seeds, {"kind": "keywords", "words": ["comet"]}, fetch=fetch)
        assert made.crawl()["pages"] >= 3
    return name


def views(page: Page) -> list[str]:
    """The addresses of all views that the navigation of a crawl offers."""
    return page.eval_on_selector_all("nav a", "links => links.map(link => link.href)")


def test_hostile_pages_are_shown_as_text(tmp_path: Path, watch: Watch, open_console: OpenConsole, serve: Serve) -> None:
    root = tmp_path / "crawls"
    root.mkdir()
    hostile_crawl(root, serve)
    watched = watch()
    page: Page = watched.page
    with open_console(root) as start:
        page.goto(start)
        page.get_by_role("rowheader").get_by_role("link").click()
        expect(page.locator(".latest").first).to_contain_text("<script>window.ran=1</script>")
        assert len(page.locator(".latest").first.inner_text()) < 20_000
        for address in views(page):
            page.goto(address)
            assert page.evaluate("window.ran") is None, address
            assert "\u202e" not in page.inner_text("body"), address
            watched.check()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_serious_problem_of_accessibility(
    scheme: str, width: int, crawls: Path, watch: Watch, open_console: OpenConsole
) -> None:
    watched = watch(color_scheme=scheme, viewport={"width": width, "height": 900})
    page: Page = watched.page
    with open_console(crawls) as start:
        page.goto(start)
        expect(page.get_by_role("heading", name="Crawls")).to_be_visible()
        page.get_by_role("link", name="stars").click()
        page.wait_for_url("**/crawls/stars**")  # a click does not wait for the page it leads to
        addresses = views(page)
        assert len(addresses) == 12
        for address in addresses:
            page.goto(address)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} is {wide} pixels wide"
            assert watched.accessibility() == [], address
        watched.check()
