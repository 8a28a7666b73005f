"""Write a crawl folder of any size without crawling, to measure how fast its readers and the console answer.

    python bench/console_folder.py FOLDER --pages 100000 --urls 1000000

Everything follows from the seed number: hosts of very different size, pages with text in the WARC, failures, verdicts
with reasons, labels, links and queued URLs with the evidence behind their scores.
"""

import argparse
import random
import shutil
import time
from array import array
from pathlib import Path

import msgspec
from isal import isal_zlib

from lycosa.parse.simhash import simhash
from lycosa.store.db import DONE, WAITING, CrawlDb
from lycosa.store.host_rows import HostRow, HostRows
from lycosa.store.labels import put_labels
from lycosa.store.url_rows import UrlRows
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import Exchange, Link, Origin, Page, Reply, Verdict, Visit

TOPIC = "galaxy telescope nebula orbit comet planet stellar cosmic astronomy spectrum".split()
BEGAN = 1_700_000_000.0
LINKS = 40  # per page
_ENTRY_BYTES = 92  # of the evidence behind one score
ERRORS = ("timeout", "http-404", "http-500", "robots", "dns", "too-large")
CONFIG = """seeds = ["http://site0.example/p/1"]
[topic]
kind = "keywords"
words = ["galaxy", "telescope", "nebula"]
[strategy]
kind = "learned"
"""
_syllables = [first + last for first in "bcdfglmnprstv" for last in ("a", "en", "i", "or", "u")]


class Folder:
    """Everything that the rows have in common."""

    def __init__(self, pages: int, urls: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.pages, self.urls = pages, urls
        pick = self.random.choice
        self.words = sorted({"".join(pick(_syllables) for _ in range(3)) for _ in range(3_000)})
        self.hosts = max(3, urls // 200)

    def url(self, number: int) -> str:
        """A few hosts have most of the URLs, as on the Web."""
        spread = (number * 2_654_435_761 % 1_000_003) / 1_000_003
        return f"http://site{int(self.hosts * spread**3)}.example/{self.words[number % 97]}/p/{number}"

    def text(self, on_topic: bool) -> list[str]:
        words = self.random.choices(self.words, k=120)
        if on_topic:
            words[5:100:8] = self.random.choices(TOPIC, k=12)
        return words

    def visit(self, number: int) -> Visit:
        chance = self.random.random()
        url, at = self.url(number), BEGAN + number
        source = self.url(max(1, number // LINKS)) if number > 1 else ""
        link = Link(
            url, source, "more about " + self.words[number % 50], number.bit_length() // 5, origin=_origin(number)
        )
        if chance < 0.05:
            return Visit(Reply(link, url=url, error=self.random.choice(ERRORS), detail="made up", at=at), score=chance)
        on_topic = chance < 0.4
        words = self.text(on_topic)
        title = " ".join(words[3:9]).capitalize()
        links = "".join(
            f'<a href="{self.url(target)}">{self.words[target % 50]}</a> ' for target in self.targets(number)[:5]
        )
        body = f"<title>{title}</title><p>{' '.join(words)}</p>{links}".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, body, at)
        reply = Reply(link, url, 200, "text/html; charset=utf-8", body, at=at, seconds=0.2, exchanges=(exchange,))
        relevance = 0.5 + chance if on_topic else chance / 2
        why = {word: round(self.random.uniform(-0.2, 0.6), 3) for word in self.random.choices(TOPIC, k=8)}
        label = f"Top.Science.{TOPIC[number % 10].capitalize()}"
        verdict = Verdict(relevance, on_topic, label, {label: 0.9, "Top.Other": 0.1}, why)
        page = Page(url, title, words=words, language="en", simhash=simhash(words))
        return Visit(reply, page, verdict, chance, digest=f"{number:032x}")

    def targets(self, number: int) -> "array[int]":
        first = number * LINKS
        return array("I", [target for target in range(first, first + LINKS) if target <= self.urls] or [1])


def _origin(number: int) -> Origin:
    return Origin.SEED if number == 1 else Origin.PAGE


def write(out: Path, pages: int, urls: int, seed: int = 1) -> None:
    """Write the folder; one of the same name is replaced."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "crawl.toml").write_text(CONFIG)
    made = Folder(pages, urls, seed)
    db = CrawlDb(out / "crawl.db").open()
    store = VisitStore(db, WarcWriter(out / "warc"))
    store.open()
    rows = UrlRows(db)
    for number in range(1, urls + 1):
        source, state = (number // LINKS if number > 1 else 0), DONE if number <= pages else WAITING
        anchor = made.words[number % 50]
        score = (number * 7_919 % 100_003) / 100_003
        band = 2 if number == 1 else 1
        rows.insert([(number, made.url(number), source, anchor, 1, score, state, band, int(_origin(number)))])
    for number in range(1, pages + 1):
        store.write(made.visit(number))
        rows.write_links(number, made.targets(number))
        if number * LINKS <= urls:  # the evidence behind the scores of its queued links
            entries = made.random.randbytes(_ENTRY_BYTES * LINKS)
            db.keep(f"learned reasons {number:09}", isal_zlib.compress(entries, 1))
        if number % 10_000 == 0:
            db.commit()
    _write_rest(db, made)
    db.commit()
    store.close()
    db.close()


def _write_rest(db: CrawlDb, made: Folder) -> None:
    hosts = HostRows(db)
    for number in range(made.hosts):
        closed = "unreachable (timeout)" if number % 50 == 7 else ""
        hosts.write(HostRow(f"site{number}.example", BEGAN + made.pages + number % 60, 1.0, 0, number % 90, closed))
    labelled = {made.url(number): number % 3 > 0 for number in range(10, min(300, made.pages), 3)}
    put_labels(db, labelled, "random", BEGAN)
    db.put("strategy", "learned")
    db.put("outlook", msgspec.json.encode({"waiting": made.urls - made.pages}).decode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--urls", type=int, default=1_000_000)
    options = parser.parse_args()
    started = time.perf_counter()
    write(options.folder, options.pages, options.urls)
    print(f"{options.folder} written in {time.perf_counter() - started:.0f} s")
