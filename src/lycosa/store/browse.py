"""Pages and failures of a crawl for people who browse: filtered, sorted, a screenful at a time.

Every reader runs one short statement on a read-only connection, so a running crawl is never kept waiting. A screenful
ends with a key (`Cursor`) at which the next one starts, so later ones cost no more than the first.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lycosa import urls
from lycosa.store.db import DONE, CrawlDb
from lycosa.store.labels import has_labels
from lycosa.store.retry import REDIRECTED
from lycosa.store.visited import IS_DISTINCT, IS_JUDGED, IS_RELEVANT

MOST_TITLE = 300  # characters; a page may call itself anything, at any length
MOST_WORDS = 8  # of a text search
Sort = Literal["relevance", "time", "title", "host"]
_AFTER_SCHEME = "substr(final_url, instr(final_url, '//') + 2)"
_HOST = f"substr({_AFTER_SCHEME}, 1, instr({_AFTER_SCHEME} || '/', '/') - 1)"
_KEYS = {  # what each order sorts by, and whether people want the largest first
    "relevance": ("relevance", True),
    "time": ("n", True),
    "title": (f"lower(substr(title, 1, {MOST_TITLE}))", False),
    "host": (_HOST, False),
}
_PAGE = (
    f"SELECT n, url, final_url, substr(title, 1, {MOST_TITLE}), relevance, on_topic, label, fetched_at, {{given}},"
    " {key} FROM visits WHERE {where} ORDER BY {key} {way}, n LIMIT ?"
)
_DETAIL = (
    "SELECT n, url, final_url, status, error, detail, fetched_at, bytes, content_type, depth, source, anchor, score,"
    f" relevance, on_topic, label, substr(title, 1, {MOST_TITLE}), language, why, classes, duplicate_of, warc,"
    " warc_offset, simhash FROM visits WHERE n = ?"
)
_LINKED = (
    "SELECT u.id, u.url, CASE WHEN u.source = ? THEN u.anchor ELSE '' END, u.score, u.band, u.state"
    " FROM json_each(?) t JOIN urls u ON u.id = t.value ORDER BY u.band DESC, u.score DESC, u.id LIMIT ?"
)
_LAST = (  # of each URL that ever failed, its last visit, if that failed too
    "SELECT max(n) AS n, url, error, detail, fetched_at FROM visits"
    " WHERE url IN (SELECT url FROM visits WHERE error != '') GROUP BY url"
    f" HAVING error NOT IN ('', '{REDIRECTED}')"
)
_KINDS = f"SELECT error, count(*) AS many, max(fetched_at) FROM ({_LAST}) GROUP BY error ORDER BY many DESC, error"
_FAILED = (
    f"SELECT n, url, error, substr(detail, 1, 300), fetched_at FROM ({_LAST}) WHERE n < ?{{}} ORDER BY n DESC LIMIT ?"
)
_LABELS = f"SELECT label, count(*), sum({IS_RELEVANT}), avg(relevance) FROM visits WHERE {IS_JUDGED} GROUP BY label"
_REASONS = f"SELECT why FROM visits WHERE {IS_RELEVANT} AND why != ''"
_CLASSED = f"SELECT url, source, label FROM visits WHERE {IS_JUDGED} AND label != ''"


class Cursor(Struct, frozen=True, array_like=True):
    """Where a screenful ended: the value it is sorted by, and the number of the visit."""

    value: float | str
    n: int


class PageQuery(Struct, frozen=True):
    """Which pages, in which order."""

    text: str = ""  # words that title or URL must contain
    host: str = ""
    label: str = ""  # the class that the judge found
    relevant: bool | None = None
    given: Literal["", "yes", "no", "none"] = ""  # what a person said
    concept: str = ""  # one of the reasons for the verdict
    since: float | None = None  # fetched at this time or later
    sort: Sort = "time"
    reverse: bool = False


class PageRow(Struct, frozen=True):
    """A line of the table of pages."""

    n: int
    url: str
    final_url: str
    title: str
    relevance: float
    on_topic: bool
    label: str
    fetched_at: float
    given: bool | None  # what a person said

    @property
    def host(self) -> str:
        return urls.host(self.final_url)


class Screenful(NamedTuple):
    """Some rows, and where the next ones start; None if these are the last."""

    rows: Sequence[Any]
    after: Cursor | None


class PageDetail(Struct, frozen=True):
    """Everything stored of one visit but the body."""

    n: int
    url: str
    final_url: str
    status: int
    error: str
    detail: str
    fetched_at: float
    bytes: int
    content_type: str
    depth: int
    source: str
    anchor: str
    score: float | None
    relevance: float | None
    on_topic: bool
    label: str
    title: str
    language: str
    why: dict[str, float]
    classes: dict[str, float]
    duplicate_of: str
    warc: str
    warc_offset: int
    simhash: int


class LinkRow(Struct, frozen=True):
    """A link of a page with its present score."""

    id: int
    url: str
    anchor: str  # empty if the URL got its score from another page
    score: float
    band: int
    is_done: bool


class Failed(Struct, frozen=True):
    """A URL whose last visit failed."""

    n: int
    url: str
    error: str
    detail: str
    fetched_at: float


class ClassRow(Struct, frozen=True):
    """The pages of one class."""

    label: str
    pages: int
    relevant: int
    mean_relevance: float


def find_pages(db: CrawlDb, query: PageQuery, after: Cursor | None = None, size: int = 50) -> Screenful:
    """A screenful of judged pages, each body once."""
    key, largest_first = _KEYS[query.sort]
    down = largest_first != query.reverse
    where, values = _where(db, query)
    if after:
        sign = "<" if down else ">"
        where += f" AND ({key} {sign} ? OR ({key} = ? AND n > ?))"
        values += [after.value, after.value, after.n]
    given = "(SELECT on_topic FROM labels WHERE labels.url = visits.url)" if has_labels(db) else "NULL"
    sql = _PAGE.format(given=given, key=key, where=where, way="DESC" if down else "ASC")
    found = db.execute(sql, [*values, size + 1]).fetchall()
    rows = [
        PageRow(*[*row[:5], bool(row[5]), *row[6:8], None if row[8] is None else bool(row[8])]) for row in found[:size]
    ]
    return Screenful(rows, Cursor(found[size - 1][-1], found[size - 1][0]) if len(found) > size else None)


def count_pages(db: CrawlDb, query: PageQuery) -> int:
    where, values = _where(db, query)
    return int(db.execute(f"SELECT count(*) FROM visits WHERE {where}", values).fetchone()[0])


def page_detail(db: CrawlDb, n: int) -> PageDetail | None:
    row = db.execute(_DETAIL, (n,)).fetchone()
    if row is None:
        return None
    found = PageDetail(*row)
    return replace(found, on_topic=bool(found.on_topic), why=_numbers(row[18]), classes=_numbers(row[19]))


def page_number(db: CrawlDb, url: str) -> int:
    """The number of the last visit that fetched a page at this URL; 0 if there is none."""
    found = db.execute("SELECT max(n) FROM visits WHERE (url = ? OR final_url = ?) AND error = ''", (url, url))
    return int(found.fetchone()[0] or 0)


def linked(db: CrawlDb, source: int, most: int = 200) -> list[LinkRow]:
    """The links of a page, the best first, by the id of its URL."""
    row = db.execute("SELECT targets FROM links WHERE source = ?", (source,)).fetchone()
    if row is None:
        return []
    targets = str(memoryview(row[0]).cast("I").tolist())
    rows = db.execute(_LINKED, (source, targets, most))
    return [LinkRow(*[*facts, state == DONE]) for *facts, state in rows]


def failure_kinds(db: CrawlDb) -> list[tuple[str, int, float]]:
    """Each kind of failure, how many URLs failed last that way, and when the latest did."""
    return db.execute(_KINDS).fetchall()


def find_failures(db: CrawlDb, kind: str = "", before: int = 0, size: int = 50) -> Screenful:
    """URLs whose last visit failed, the latest first; `before` is the number of a visit."""
    condition, values = (" AND error = ?", [kind]) if kind else ("", [])
    found = db.execute(_FAILED.format(condition), [before or 1 << 62, *values, size + 1]).fetchall()
    rows = [Failed(*row) for row in found[:size]]
    return Screenful(rows, Cursor(0.0, rows[-1].n) if len(found) > size else None)


def classes(db: CrawlDb) -> list[ClassRow]:
    """The classes of all judged pages, the most frequent first."""
    found = [ClassRow(*row) for row in db.execute(_LABELS)]
    return sorted(found, key=lambda row: (-row.pages, row.label))


def class_links(db: CrawlDb) -> dict[tuple[str, str], int]:
    """How many pages of one class were found on pages of another, by both classes."""
    rows = db.execute(_CLASSED).fetchall()
    label_of = {url: label for url, _, label in rows}
    counts: dict[tuple[str, str], int] = {}
    for _, source, label in rows:
        if source in label_of:
            pair = label_of[source], label
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_reasons(db: CrawlDb) -> dict[str, int]:
    """On how many relevant pages each reason for a verdict was among the strongest."""
    counts: dict[str, int] = {}
    decode = msgspec.json.Decoder(dict[str, float]).decode
    for (why,) in db.execute(_REASONS):
        for reason in decode(why):
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def _where(db: CrawlDb, query: PageQuery) -> tuple[str, list[Any]]:
    parts, values = [IS_JUDGED, IS_DISTINCT], list[Any]()
    for word in query.text.split()[:MOST_WORDS]:
        parts.append("(title LIKE ? ESCAPE '\\' OR final_url LIKE ? ESCAPE '\\')")
        values += [f"%{_escaped(word)}%"] * 2
    if query.host:
        parts.append(f"{_HOST} = ?")
        values.append(query.host)
    if query.label:
        parts.append("label = ?")
        values.append(query.label)
    if query.relevant is not None:
        parts.append(IS_RELEVANT if query.relevant else f"NOT {IS_RELEVANT}")
    if query.concept:
        parts.append("instr(why, ?)")
        values.append(f"{msgspec.json.encode(query.concept).decode()}:")
    if query.since is not None:
        parts.append("fetched_at >= ?")
        values.append(query.since)
    if query.given:
        parts.append(_GIVEN[query.given] if has_labels(db) else str(query.given == "none"))
    return " AND ".join(parts), values


_GIVEN = {
    "yes": "url IN (SELECT url FROM labels WHERE on_topic)",
    "no": "url IN (SELECT url FROM labels WHERE NOT on_topic)",
    "none": "url NOT IN (SELECT url FROM labels)",
}


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _numbers(text: str) -> dict[str, float]:
    return msgspec.json.decode(text, type=dict[str, float]) if text else {}
