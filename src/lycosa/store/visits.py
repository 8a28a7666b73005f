"""Every visit, in the order of fetching: a row in crawl.db, its exchanges in the WARC."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from lycosa.store.db import CrawlDb
from lycosa.store.shard_views import BEFORE
from lycosa.store.visited import IS_PAGE, IS_RELEVANT
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange, Origin, Revised, Verdict, Visit

SERIES, AWAY = "series", "warc_away"  # keys of meta; the latter is set where the WARC files from before are elsewhere
_INSERT = f"INSERT INTO visits VALUES ({', '.join('?' * 26)})"

_REVISE = (
    "UPDATE visits SET relevance = ?, on_topic = ?, label = ?, why = ?, classes = ? WHERE url = ?"
    " AND relevance IS NOT NULL"
)

_LEAST_PROBABILITY = 0.001  # minimum for storing a class: a large taxonomy has hundreds that are irrelevant for a page


class Kept(msgspec.Struct, frozen=True):
    """What the store knows of a visit: its number, the size of the body, and its position in the WARC."""

    n: int
    bytes: int
    warc: str = ""
    offset: int = 0


_FILES = "SELECT warc, max(warc_offset) FROM visits WHERE warc != '' GROUP BY warc"


class Totals:
    """The totals of a crawl over all its runs."""

    def __init__(self, distinct: bool = False) -> None:
        """`distinct`: a page fetched from several addresses counts once, as users expect. In the lab every fetch
        counts, so that all strategies have the same number of them."""
        self.distinct = distinct
        self.visits = 0
        self.pages = 0  # successful HTML pages
        self.relevant = 0
        self.duplicates = 0
        self.bytes = 0
        self.errors: Counter[str] = Counter()

    def load(self, db: CrawlDb) -> None:
        self.visits, self.pages, self.relevant, self.duplicates, self.bytes = db.execute(
            f"SELECT count(*), coalesce(sum({IS_PAGE}), 0), coalesce(sum({IS_RELEVANT}), 0),"
            " coalesce(sum(duplicate_of != ''), 0), coalesce(sum(bytes), 0) FROM visits"
        ).fetchone()
        if self.distinct:
            self.pages -= self.duplicates
        self.errors = Counter(dict(db.execute("SELECT error, count(*) FROM visits WHERE error != '' GROUP BY error")))

    def write(self, visit: Visit) -> None:
        self.visits += 1
        self.bytes += len(visit.reply.body)
        self.relevant += visit.verdict.on_topic
        if visit.reply.error:
            self.errors[visit.reply.error] += 1
        elif visit.digest:
            self.pages += not (self.distinct and visit.duplicate_of)
            self.duplicates += bool(visit.duplicate_of)


class VisitStore:
    """Writes visits; the WARC, which is unbuffered, is written before the commit that refers to it."""

    def __init__(self, db: CrawlDb, warc: WarcWriter | None, totals: Totals | None = None) -> None:
        """`totals` are recomputed when verdicts change."""
        self._db = db
        self._warc = warc
        self._totals = totals

    def open(self) -> None:
        """Remove what a killed run wrote to the WARC after its last commit."""
        last: int = self._db.execute("SELECT coalesce(max(n), 0) FROM visits").fetchone()[0]
        self._next = max(last, int(self._db.get(BEFORE, "0"))) + 1
        if self._warc:
            self._warc.series = series_of(self._db)
            if self._db.is_new and (found := self._warc.names()):
                files = f"{len(found)} file{'s' * (len(found) != 1)}"
                raise BadInput(f"warc: holds {files} of a crawl whose crawl.db is gone; move them away first")
            is_away, end = self._db.get(AWAY), warc_end(self._db)
            if not is_away:
                for name, last in self._db.execute(_FILES):
                    self._warc.require(name, last + 1)
                self._warc.cut(*end, self._db.get("warc_run"))
            self._warc.run = secrets.token_hex(8)
            self._db.put("warc_run", self._warc.run)
            self._db.commit()  # before the first file of this run
            self._warc.open(end if is_away else ("", 0))
            self._db.before_commit.append(self._settle)

    def write(self, visit: Visit) -> None:
        self.add(visit, Kept(self._next, len(visit.reply.body), *self._archive(visit.reply.exchanges)))
        self._next += 1

    def hear(self, revised: Revised) -> None:
        """Update the verdicts of stored pages."""
        self._db.execute("CREATE INDEX IF NOT EXISTS visits_by_url ON visits (url)")  # few crawls need it
        rows = [(*_judged(verdict), _classes(verdict.classes), url) for url, verdict in revised]
        self._db.executemany(_REVISE, rows)
        if self._totals:
            self._totals.load(self._db)

    def add(self, visit: Visit, kept: Kept) -> None:
        """Insert a row for exchanges that are already in the WARC."""
        reply, page, verdict, link = visit.reply, visit.page, visit.verdict, visit.reply.link
        *told, why = _judged(verdict)
        row = (
            *(kept.n, link.url, reply.url, reply.status, reply.error, reply.detail, reply.at, reply.seconds),
            *(kept.bytes, reply.content_type, visit.digest, _signed(page.simhash)),
            *(link.depth, link.source, link.anchor, _score(visit)),
            *(told if visit.is_distinct else (None, False, "")),
            *(page.title, page.language, why),
            *(visit.duplicate_of, kept.warc, kept.offset, _classes(verdict.classes)),
        )
        self._db.execute(_INSERT, row)

    def _archive(self, exchanges: Sequence[Exchange]) -> tuple[str, int]:
        """File and offset; a visit that does not fit on the disk must not be partly stored in the database."""
        if not self._warc or not exchanges:
            return "", 0
        try:
            name, offset, _ = self._warc.write(exchanges)
        except OSError as error:
            self._db.give_up(error)
        return name, offset

    def close(self) -> None:
        if self._warc:
            self._warc.close()

    def _settle(self) -> None:
        assert self._warc
        name, offset = self._warc.position()
        self._db.put("warc_end", f"{name} {offset}")


def series_of(db: CrawlDb) -> int:
    """The series of the WARC files that the crawl, or this shard of it, writes."""
    return int(db.get(SERIES, "0"))


def warc_end(db: CrawlDb) -> tuple[str, int]:
    """File and size of the WARC at the last commit."""
    name, _, offset = db.get("warc_end").rpartition(" ")
    return name, int(offset or 0)


def _judged(verdict: Verdict) -> tuple[float, bool, str, str]:
    why = msgspec.json.encode(verdict.why).decode() if verdict.why else ""
    return verdict.relevance, verdict.on_topic, verdict.label, why


def _score(visit: Visit) -> float | None:
    """None for URLs that came first without a score."""
    named = visit.reply.link.origin not in (Origin.PAGE, Origin.SITEMAP)
    return None if named and not visit.score else visit.score


def _signed(number: int) -> int:
    """SQLite integers are signed."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _classes(probabilities: Mapping[str, float]) -> str:
    """As JSON, most probable first, without those that round to zero; empty if the topic has no classes."""
    likely = [(name, chance) for name, chance in probabilities.items() if chance >= _LEAST_PROBABILITY]
    likely.sort(key=lambda item: -item[1])  # before rounding: the first is the label
    return msgspec.json.encode({name: round(chance, 4) for name, chance in likely}).decode() if likely else ""
