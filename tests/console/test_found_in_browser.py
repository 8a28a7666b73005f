"""Pages, evidence, search and the frontier in a real browser: used as a person would, and usable by everybody."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.console.test_found import EVIL_URL, write_hostile
from tests.console.test_reports import write_comparison

Watch = Callable[..., Any]
OpenConsole = Callable[..., AbstractContextManager[str]]
pytestmark = pytest.mark.xdist_group("browser")  # one browser at a time


def enter(page: Page, start: str, name: str) -> str:
    """The address of a crawl."""
    page.goto(start)
    expect(page.get_by_role("heading", name="Crawls")).to_be_visible()
    return f"{start.partition('/enter')[0]}/crawls/{name}"


def test_from_search_to_the_page_to_why_to_the_queue(crawls: Path, watch: Watch, open_console: OpenConsole) -> None:
    watched = watch()
    page: Page = watched.page
    with open_console(crawls) as start:
        enter(page, start, "stars")
        page.get_by_role("link", name="stars").click()
        page.get_by_role("link", name="Search").click()
        page.get_by_label("Words").fill("telescope")
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".result a").first).to_be_visible(timeout=60_000)  # the index is made in the background
        page.locator(".result a").first.click()
        expect(page.get_by_role("heading", name="What spoke for it and against it")).to_be_visible()
        expect(page.get_by_role("heading", name="The path from a seed")).to_be_visible(timeout=30_000)
        copy = page.frame_locator("iframe.copy")
        expect(copy.locator("body")).to_contain_text(re.compile("telescope", re.IGNORECASE))
        assert watched.accessibility() == []
        page.get_by_role("link", name="queued: why?").first.click()
        expect(page.locator("main")).to_contain_text("queued URLs come before it", timeout=30_000)
        assert watched.accessibility() == []
        page.get_by_role("link", name="Frontier").click()
        expect(page.locator(".hosts")).to_be_visible(timeout=30_000)
        row = page.locator(".hosts tbody tr").first
        row.get_by_role("button", name=re.compile("queued at")).click()
        expect(page.get_by_role("link", name="why?", exact=True).first).to_be_visible()
        row.get_by_role("button", name=re.compile("exclude")).click()
        expect(page.get_by_text(re.compile("would be dropped"))).to_be_visible(timeout=30_000)
        assert watched.accessibility() == []
        page.get_by_role("button", name="Exclude for good").click()
        expect(page.locator(".done")).to_contain_text("it is excluded from now on", timeout=30_000)
        page.get_by_role("link", name="Failures").click()
        page.get_by_role("button", name=re.compile("all of them")).first.click()
        expect(page.locator(".done")).to_contain_text("queued")
        watched.check()


def test_more_pages_and_what_is_new(crawls: Path, watch: Watch, open_console: OpenConsole) -> None:
    watched = watch()
    page: Page = watched.page
    with open_console(crawls) as start:
        at = enter(page, start, "stars")
        page.goto(f"{at}/pages")
        shown = page.locator(".pages tbody tr")
        first = shown.count()
        page.get_by_role("link", name="More pages").click()
        expect(shown).not_to_have_count(first)
        assert page.get_by_role("option", name="your last look").count() == 0
        page.evaluate("sessionStorage.clear()")
        page.goto(f"{at}/pages")
        assert page.locator("option[data-last-look]").get_attribute("hidden") is None
        watched.check()


def test_curves_are_drawn(tmp_path: Path, watch: Watch, open_console: OpenConsole) -> None:
    write_comparison(tmp_path / "root" / "lab")
    watched = watch()
    page: Page = watched.page
    with open_console(tmp_path / "root") as start:
        enter(page, start, "")
        page.get_by_role("link", name="Compare").click()
        page.get_by_role("link", name="2 strategies").click()
        expect(page.locator(".curve canvas")).to_have_count(2)
        assert watched.accessibility() == []
        watched.check()


def test_nothing_hostile_runs_on_any_of_these_views(crawls: Path, watch: Watch, open_console: OpenConsole) -> None:
    write_hostile(crawls / "hostile")
    watched = watch()
    page: Page = watched.page
    with open_console(crawls) as start:
        at = enter(page, start, "hostile")
        for path in (
            "pages",
            "pages/1",
            "pages/2",
            "why",
            "frontier",
            "failures",
            "ontology",
            "taxonomy",
            "search?q=comet",
        ):
            page.goto(f"{at}/{path}")
            page.wait_for_load_state("networkidle")
            assert page.title() != "run", path
            assert "\u202e" not in page.inner_text("main"), path
            watched.check()
        page.get_by_role("link", name="Why").click()
        page.get_by_label("URL of a page or a queued link").fill(EVIL_URL)
        page.get_by_role("button", name="Explain").click()
        expect(page.locator(".answer")).to_be_visible()
        page.goto(f"{at}/pages/1/copy")
        assert page.title() != "run"
        assert watched.problems == []
