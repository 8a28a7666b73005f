"""The relevant pages of a crawl, for a full-text index: what is searched, shown or filtered by."""

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from lycosa.store.browse import MOST_TITLE
from lycosa.store.db import CrawlDb
from lycosa.store.labels import has_labels
from lycosa.store.visited import IS_DISTINCT, IS_RELEVANT

_ROWS = (
    f"SELECT n, final_url, substr(title, 1, {MOST_TITLE}), label, relevance, fetched_at, simhash, warc, warc_offset,"
    " {given} FROM visits WHERE {where}"
)
_GIVEN = "(SELECT CASE on_topic WHEN 1 THEN 'yes' ELSE 'no' END FROM labels WHERE labels.url = visits.url)"
_SHOWN = f"{IS_DISTINCT} AND {IS_RELEVANT}"


class Searchable(NamedTuple):
    """One relevant page."""

    n: int
    url: str
    title: str
    label: str  # the class that the judge found
    relevance: float
    fetched_at: float
    simhash: int
    warc: str
    warc_offset: int
    given: str  # what a person said: yes, no, or nothing

    def mark(self) -> int:
        """Changes whenever anything shown or filtered by does."""
        return crc32(f"{self.title}\n{self.label}\n{self.relevance:.3f}\n{self.given}".encode(errors="replace"))


def relevant_rows(db: CrawlDb) -> Iterator[Searchable]:
    """All relevant pages, each body once, in the order of fetching."""
    given = _GIVEN if has_labels(db) else "NULL"
    for *facts, said in db.execute(_ROWS.format(given=given, where=f"{_SHOWN} ORDER BY n")):
        yield Searchable._make([*facts, said or ""])
