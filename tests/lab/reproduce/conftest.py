"""A generated web small enough for tests, and recordings with labels."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.generated import GeneratedWeb, Links, Text
from lycosa.lab.reproduce import testbed
from lycosa.lab.vocabulary import TOPICS

NAMES = ("astronomy", "cooking", "medicine", "music")
H = "http://school.example"


@pytest.fixture
def small() -> GeneratedWeb:
    """Four topics, ten hosts each, ten pages a host."""
    text = Text(topics=NAMES, size_bytes=(1_500, 3_000))
    return GeneratedWeb(pages=400, hosts=40, seed=5, text=text, links=Links(count=(6, 10)))


@pytest.fixture
def smaller_webs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All experiments on webs of four topics."""
    for name, value in (("TOPICS", 4), ("HOSTS", 10), ("PAGES", 10)):
        monkeypatch.setattr(testbed, name, value)


class School:
    """A recorded web of three labels, and the file that tells them."""

    def __init__(self, warcs: Any, folder: Path) -> None:
        pages = {f"{H}/": "<title>All</title>" + _links(range(36))}
        labels = []
        for number in range(36):
            topic = NAMES[number % 3]
            words = " ".join(TOPICS[topic][number % 7 : number % 7 + 20])
            further = range(number, number + 5)
            pages[f"{H}/{topic}/{number}"] = f"<title>{topic} {number}</title><p>{words}</p>{_links(further)}"
            labels.append(f"{H}/{topic}/{number}\t{topic}")
        self.web = warcs.pages("school.warc.gz", pages)
        self.labels = folder / "school.tsv"
        self.labels.write_text("\n".join(labels), encoding="utf-8")

    def request(self, **more: Any) -> testbed.Request:
        return testbed.Request(web=str(self.web), labels=str(self.labels), **more)


def _links(numbers: range) -> str:
    hrefs = [f"/{NAMES[number % 3]}/{number}" for number in (n % 36 for n in numbers)]
    return "".join(f"<a href='{href}'>page {href.rpartition('/')[2]}</a> " for href in hrefs)


@pytest.fixture
def school(warcs: Any, tmp_path: Path) -> School:
    return School(warcs, tmp_path)
