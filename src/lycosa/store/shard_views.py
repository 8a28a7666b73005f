"""Reads the databases of all shards of a crawl as if they were one.

The tables of each shard are combined in views of the same names. Ids become unique by multiplying them and adding the
number of the shard; visits are numbered by the time of the request; the names of WARC files lead to those of the shard.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.errors import BadInput

FOLDER = "shards"
_ADVICE = (
    "what this shard found is lost without it. To use the recorded pages in a new crawl, run `lycosa lab serve {}`,"
    " then `lycosa crawl` with the --proxy it prints"
)
REFERENCE = 64
BEFORE = "visits_before"  # key of meta: the last visit made before the crawl was divided
_ELSEWHERE = 2  # the state of a page of another shard; its source is minus its id over all shards
_MERGED = ("spent_s", "added_seeds", "excluded", "refused", "outlook")  # keys of meta: what all shards say
_VISIT = (
    "url, final_url, status, error, detail, fetched_at, seconds, bytes, content_type, digest, simhash, depth, source,"
    " anchor, score, relevance, on_topic, label, title, language, why, duplicate_of"
)
_SOURCE = "coalesce(-s.source, {0}.source * {1} + {2})"
_JOIN = f"LEFT JOIN {{0}}.urls s ON s.id = {{1}}.source AND s.state = {_ELSEWHERE}"
_URLS = (
    "SELECT u.id * {reference} + {shard} AS id, u.url, CASE WHEN u.source THEN {source} ELSE 0 END AS source, u.anchor,"
    " u.depth, u.score, u.state, u.band, u.origin FROM {db}.urls u {join} WHERE u.state != 2"
)
_LINKS = "SELECT {source} AS source, shard_ids(l.targets, {shard}) AS targets FROM {db}.links l {join}"
_VISITS = (  # in each shard, a visit comes after those before it even if its request was sent earlier
    f"SELECT {_VISIT}, CASE WHEN warc = '' OR n <= {{before}} THEN warc ELSE '../{FOLDER}/{{shard}}/warc/' || warc END"
    " AS warc, warc_offset, classes, n AS own_n, {shard} AS shard,"
    " CASE WHEN n > {before} THEN max(fetched_at) OVER (ORDER BY n) ELSE 0 END AS at FROM {db}.visits"
)
_NUMBERED = (("urls", _URLS, "u"), ("links", _LINKS, "l"))
_LABELS = "SELECT * FROM {}.labels"


def shard_folders(folder: Path) -> list[Path]:
    """The folders of the shards, by number; empty if the crawl has only one."""
    numbered = (path for path in (folder / FOLDER).glob("*") if path.name.isdigit())
    found = sorted(numbered, key=lambda path: int(path.name))
    for shard, home in enumerate(found):
        database = folder / FOLDER / str(shard) / "crawl.db"
        if (home.name != str(shard) or not database.exists()) and (folder / FOLDER).exists():
            raise BadInput(f"{database}: is missing; {_ADVICE.format(folder)}")
    return found if (folder / FOLDER).exists() else []  # the folder is renamed when the shards become one


def require_all(folders: list[Path], meta: dict[str, str]) -> None:
    """Raise BadInput if the last shards are missing; `meta` is that of the first."""
    if int(meta.get("shards", 0)) > len(folders):
        missing = folders[0].parent / str(len(folders)) / "crawl.db"
        raise BadInput(f"{missing}: is missing; {_ADVICE.format(folders[0].parent.parent)}")


def warc_files(folder: Path) -> list[Path]:
    """The files of a crawl folder that a crawl may have written to its warc/, and those of its shards."""
    found = {path.name: path for path in folder.glob(f"{FOLDER}/*/warc/*") if not path.is_symlink()}
    found |= {path.name: path for path in folder.glob("warc/*")}
    return [found[name] for name in sorted(found)]


def connect(folders: list[Path]) -> sqlite3.Connection:
    """All shards, read-only; at most as many as SQLite attaches."""
    db = sqlite3.connect("file::memory:", isolation_level=None, uri=True)
    add_functions(db)
    for shard, folder in enumerate(folders):
        _attach(db, folder / "crawl.db", shard)
    names = [f"shard{shard}" for shard in range(len(folders))]
    metas = [read_meta(db, shard, name) for shard, name in enumerate(names)]
    require_all(folders, metas[0])
    every = [selects(shard, name, metas[0]) for shard, name in enumerate(names)]
    for table in every[0]:
        create_view(db, table, " UNION ALL ".join(queries[table] for queries in every))
    if having := [name for name in names if has_labels(db, name)]:
        create_view(db, "labels", " UNION ALL ".join(_LABELS.format(name) for name in having))
    write_meta(db, metas)
    return db


def add_functions(db: sqlite3.Connection) -> None:
    db.create_function("shard_ids", 2, _global_ids, deterministic=True)


def selects(shard: int, name: str, meta: dict[str, str]) -> dict[str, str]:
    """By table: a query for the rows of one shard as a reader of all of them sees them. `name` is that of its database;
    `meta` that of the first shard."""
    queries = {table: _of_shard(query, row, shard, name) for table, query, row in _NUMBERED}
    queries["visits"] = _VISITS.format(shard=shard, db=name, before=int(meta.get(BEFORE, 0)))
    return queries | {table: f"SELECT * FROM {name}.{table}" for table in ("hosts", "robots", "notes")}


def create_view(db: sqlite3.Connection, table: str, rows: str) -> None:
    """`rows`: a query for the rows of all shards."""
    if table == "visits":
        number = "row_number() OVER (ORDER BY at, own_n, shard) AS n"
        rows = f"SELECT {number}, {_VISIT}, warc, warc_offset, classes FROM ({rows}) ORDER BY n"
    db.execute(f"CREATE TEMP VIEW {table} AS {rows}")


def read_meta(db: sqlite3.Connection, shard: int, name: str) -> dict[str, str]:
    """All of the first shard; of the others, what has to be merged: what they have learned may be large."""
    condition = f" WHERE key IN {_MERGED}" if shard else ""
    return dict(db.execute(f"SELECT key, value FROM {name}.meta{condition}"))


def write_meta(db: sqlite3.Connection, parts: list[dict[str, str]]) -> None:
    """The table `meta` as a single process would have written it."""
    merged = parts[0] | _merged(parts)
    db.execute("CREATE TEMP TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
    db.executemany("INSERT INTO meta VALUES (?, ?)", merged.items())


def has_labels(db: sqlite3.Connection, name: str) -> bool:
    return bool(db.execute(f"SELECT count(*) FROM {name}.sqlite_master WHERE name = 'labels'").fetchone()[0])


def _merged(parts: list[dict[str, str]]) -> dict[str, str]:
    """What each shard says of itself, as the whole crawl would say it."""
    found = {"spent_s": max((part["spent_s"] for part in parts if "spent_s" in part), key=float, default="0")}
    for key in ("added_seeds", "excluded"):
        found[key] = json.dumps(_distinct(item for part in parts for item in json.loads(part.get(key, "[]"))))
    refused: Counter[str] = Counter()
    for part in parts:
        refused.update(json.loads(part.get("refused", "{}")))
    found["refused"] = json.dumps(refused)
    outlooks = [json.loads(part["outlook"]) for part in parts if "outlook" in part]
    if outlooks:
        outlook = outlooks[0]
        for name in ("known", "waiting", "in_flight", "hosts", "hosts_due", "hosts_resting", "held_back"):
            outlook[name] = sum(one[name] for one in outlooks)
        outlook["next_due"] = min((one["next_due"] for one in outlooks if one["next_due"]), default=None)
        found["outlook"] = json.dumps(outlook)
    return found


def _distinct(items: Iterable[Any]) -> list[Any]:
    return [*{json.dumps(item, sort_keys=True): item for item in items}.values()]


def _attach(db: sqlite3.Connection, path: Path, shard: int) -> None:
    for mode in ("mode=ro", "mode=ro&immutable=1"):  # the latter where even readers must not write anything
        try:
            db.execute(f"ATTACH ? AS shard{shard}", (f"{path.absolute().as_uri()}?{mode}",))
            db.execute(f"SELECT count(*) FROM shard{shard}.sqlite_master")
            return
        except sqlite3.OperationalError:
            if "immutable" in mode:
                raise
            db.execute(f"DETACH shard{shard}")


def _of_shard(query: str, row: str, shard: int, name: str) -> str:
    source = _SOURCE.format(row, REFERENCE, shard)
    return query.format(reference=REFERENCE, shard=shard, db=name, source=source, join=_JOIN.format(name, row))


def _global_ids(targets: bytes, shard: int) -> bytes:
    return (np.frombuffer(targets, np.uint32) * REFERENCE + shard).astype(np.uint32).tobytes()
