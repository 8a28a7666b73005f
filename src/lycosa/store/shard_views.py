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

FOLDER = "shards"
REFERENCE = 64
BEFORE = "visits_before"  # key of meta: the last visit made before the crawl was divided
_ELSEWHERE = 2  # the state of a page of another shard; its source is minus its id over all shards
_MERGED = ("spent_s", "added_seeds", "excluded", "refused", "outlook")  # keys of the table meta
_OF_ONE = ("state:recall", "")  # what a shard estimates from its own visits alone
_VISIT = (
    "url, final_url, status, error, detail, fetched_at, seconds, bytes, content_type, digest, simhash, depth, source,"
    " anchor, score, relevance, on_topic, label, title, language, why, duplicate_of"
)
_SOURCE = "coalesce(-s.source, {0}.source * {1} + {2})"
_JOIN = f"LEFT JOIN shard{{0}}.urls s ON s.id = {{1}}.source AND s.state = {_ELSEWHERE}"
_URLS = (
    "SELECT u.id * {reference} + {shard} AS id, u.url, CASE WHEN u.source THEN {source} ELSE 0 END AS source, u.anchor,"
    " u.depth, u.score, u.state, u.band, u.origin FROM shard{shard}.urls u {join} WHERE u.state != 2"
)
_LINKS = "SELECT {source} AS source, shard_ids(l.targets, {shard}) AS targets FROM shard{shard}.links l {join}"
_VISITS = (  # in each shard, a visit comes after those before it even if its request was sent earlier
    f"SELECT {_VISIT}, CASE WHEN warc = '' OR n <= {{before}} THEN warc ELSE '../{FOLDER}/{{shard}}/warc/' || warc END"
    " AS warc, warc_offset, classes, n AS own_n, {shard} AS shard,"
    " CASE WHEN n > {before} THEN max(fetched_at) OVER (ORDER BY n) ELSE 0 END AS at FROM shard{shard}.visits"
)


def shard_folders(folder: Path) -> list[Path]:
    """The folders of the shards, by number; empty if the crawl has only one."""
    found = [path for path in (folder / FOLDER).glob("*") if path.name.isdigit() and (path / "crawl.db").exists()]
    return sorted(found, key=lambda path: int(path.name))


def connect(folders: list[Path]) -> sqlite3.Connection:
    """All shards, read-only."""
    db = sqlite3.connect("file::memory:", isolation_level=None, uri=True)
    db.create_function("shard_ids", 2, _global_ids, deterministic=True)
    for shard, folder in enumerate(folders):
        _attach(db, folder / "crawl.db", shard)
    every = range(len(folders))
    (before,) = db.execute(f"SELECT coalesce(max(value), 0) FROM shard0.meta WHERE key = '{BEFORE}'").fetchone()
    views = {
        "urls": " UNION ALL ".join(_of_shard(_URLS, "u", shard) for shard in every),
        "links": " UNION ALL ".join(_of_shard(_LINKS, "l", shard) for shard in every),
        "visits": _numbered(" UNION ALL ".join(_VISITS.format(shard=shard, before=before) for shard in every)),
        "hosts": " UNION ALL ".join(f"SELECT * FROM shard{shard}.hosts" for shard in every),
        "robots": " UNION ALL ".join(f"SELECT * FROM shard{shard}.robots" for shard in every),
        "notes": " UNION ALL ".join(f"SELECT * FROM shard{shard}.notes" for shard in every),
    }
    if having := [shard for shard in every if _has(db, shard, "labels")]:
        views["labels"] = " UNION ".join(f"SELECT * FROM shard{shard}.labels" for shard in having)
    for name, query in views.items():
        db.execute(f"CREATE TEMP VIEW {name} AS {query}")
    db.execute("CREATE TEMP TABLE meta AS SELECT * FROM shard0.meta")
    all_meta = [dict(db.execute(f"SELECT key, value FROM shard{shard}.meta WHERE key IN {_MERGED}")) for shard in every]
    db.execute(f"DELETE FROM meta WHERE key IN {_OF_ONE}")
    for key, value in _merged(all_meta).items():
        db.execute("DELETE FROM meta WHERE key = ?", (key,))
        db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
    return db


def _has(db: sqlite3.Connection, shard: int, table: str) -> bool:
    found = db.execute(f"SELECT count(*) FROM shard{shard}.sqlite_master WHERE name = ?", (table,))
    return bool(found.fetchone()[0])


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


def _of_shard(query: str, row: str, shard: int) -> str:
    source = _SOURCE.format(row, REFERENCE, shard)
    return query.format(reference=REFERENCE, shard=shard, source=source, join=_JOIN.format(shard, row))


def _numbered(visits: str) -> str:
    number = "row_number() OVER (ORDER BY at, own_n, shard) AS n"
    return f"SELECT {number}, {_VISIT}, warc, warc_offset, classes FROM ({visits}) ORDER BY n"


def _global_ids(targets: bytes, shard: int) -> bytes:
    return (np.frombuffer(targets, np.uint32) * REFERENCE + shard).astype(np.uint32).tobytes()
