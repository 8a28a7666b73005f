"""Take the screenshots in docs/console.md again: python scripts/console_pictures.py

A generated web is served and crawled, and a console shown in chromium (Debian's, or LYCOSA_CHROMIUM) takes the place of
a person. Pictures are written to docs/pictures/console, with as few colours as they need.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

import lycosa
from lycosa import control
from lycosa.lab.generated import GeneratedWeb, Oddities, Text
from lycosa.lab.serve import Server

OUT = Path(__file__).parent.parent / "docs" / "pictures" / "console"
WEB = GeneratedWeb(
    pages=4_000, hosts=20, seed=3, text=Text(size_bytes=(1_500, 4_000)), oddities=Oddities(failing=True, private=0.03)
)
FETCH = {"delay_s": 0.02, "delay_factor": 0.0, "allow_private": True, "focus": 0.0, "retries": 0, "max_delay_s": 0.2}
TOPIC = {"kind": "keywords", "words": ["astronomy", *WEB.words_of("astronomy")[:8]]}
SENTENCE = "Astronomy: planets, comets, galaxies and nebulae that astronomers see through a telescope in the night sky."
MAP = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://sky.example/> .\n" + "".join(
    f':{name} a skos:Concept ; skos:prefLabel "{name}"@en{f" ; skos:broader :{above}" if above else ""} .\n'
    for above, names in {
        "": "astronomy",
        "astronomy": "observatory galaxy star planet",
        "observatory": "telescope eyepiece spectrum",
        "galaxy": "nebula quasar",
        "star": "pulsar constellation",
        "planet": "comet moon orbit",
    }.items()
    for name in names.split()
)
COLOURS = 48
SIZE = {"width": 1120, "height": 760}


@contextmanager
def serving() -> Iterator[int]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = Server(WEB)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    yield server.port
    asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
    loop.call_soon_threadsafe(loop.stop)


@contextmanager
def console(root: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "lycosa", "console", str(root), "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.communicate()


def take(page: Page, name: str) -> None:
    page.wait_for_load_state("load")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)
    print(f"{name}.png, {(OUT / f'{name}.png').stat().st_size / 1000:.0f} kB")


def go(page: Page, title: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()


def wizard(page: Page, port: int) -> None:
    page.get_by_role("link", name="New crawl").first.click()
    page.get_by_label("Name").fill("night sky")
    page.get_by_label("The sentence").fill(SENTENCE)
    page.get_by_label("Seeds, one URL per line").fill("\n".join(WEB.seeds(port, 4)))
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Seconds between two requests to a host").fill("0.05")
    page.get_by_label("Allow pages on this machine").check()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Fetch samples").click()
    expect(page.locator("#preview")).to_contain_text("of 20 on topic", timeout=60_000)
    page.evaluate("scrollTo(0, 0)")
    take(page, "wizard")
    page.get_by_label("Pages at most", exact=True).fill("3000")
    page.get_by_role("button", name="Create and start").click()
    expect(page.locator("#harvest canvas")).to_be_visible(timeout=60_000)


def found(page: Page) -> None:
    go(page, "Crawls")
    page.get_by_role("link", name="stars").click()
    go(page, "Pages")
    take(page, "pages")
    go(page, "Search")
    page.get_by_label("Words").fill("telescope")
    for _ in range(50):
        page.get_by_role("button", name="Search").click()
        if page.locator(".result").count():
            break
    take(page, "search")
    page.locator(".result a").first.click()
    page.wait_for_load_state("networkidle")
    take(page, "page")
    page.get_by_role("link", name="why it was fetched").click()
    take(page, "why")
    go(page, "Label")
    take(page, "label")
    go(page, "Frontier")
    expect(page.locator(".hosts")).to_be_visible(timeout=30_000)
    take(page, "frontier")
    go(page, "Failures")
    take(page, "failures")


def ontology(page: Page) -> None:
    go(page, "Crawls")
    page.get_by_role("link", name="map").click()
    go(page, "Ontology")
    take(page, "ontology")


def crawl_all(root: Path, port: int) -> None:
    """A finished crawl, and one whose topic is a map."""
    stars = lycosa.CrawlFolder.new(root / "stars", WEB.seeds(port, 4), TOPIC, fetch=FETCH, limits={"pages": 600})
    stars.crawl()
    (root / "map").mkdir()
    (root / "map" / "sky.ttl").write_text(MAP)
    topic = {"kind": "ontology", "file": "sky.ttl", "focus": ["telescope", "nebula"], "limit": 0.01}
    lycosa.CrawlFolder.new(root / "map", WEB.seeds(port, 4), topic, fetch=FETCH, limits={"pages": 200}).crawl()


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("LYCOSA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-headless-shell")
    args = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync", "--no-sandbox"]
    with tempfile.TemporaryDirectory() as place, serving() as port, sync_playwright() as playwright:
        root = Path(place)
        crawl_all(root, port)
        browser = playwright.chromium.launch(executable_path=chromium, args=args)
        with console(root) as start:
            page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
            page.goto(start)
            expect(page.get_by_role("heading", name="Crawls")).to_be_visible()
            wizard(page, port)
            page.wait_for_timeout(6_000)
            take(page, "live")
            go(page, "Crawls")
            take(page, "crawls")
            found(page)
            ontology(page)
            dark = browser.new_context(
                viewport={"width": 390, "height": 760}, color_scheme="dark", storage_state=page.context.storage_state()
            )
            phone = dark.new_page()
            phone.goto(f"{start.partition('/enter')[0]}/crawls/stars/")
            expect(phone.locator("#harvest canvas")).to_be_visible()
            take(phone, "phone")
            control.call(root / "night sky", control.Request("stop"), wait_for_end=True)
        browser.close()


if __name__ == "__main__":
    main()
