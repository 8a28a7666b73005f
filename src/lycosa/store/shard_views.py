"""Reads the databases of all shards of a crawl as if they were one.

The tables of each shard are combined in views of the same names. Ids become unique by multiplying them and adding the
number of the shard; visits are numbered by the time of the request; the names of WARC files lead to those of the shard.
"""

import sqlite3
from pathlib import Path

import numpy as np

FOLDER = "shards"
REFERENCE = 64
_ELSEWHERE = 2  # the state of a page of another shard; its source is minus its id over all shards
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
_LINKS = (
    "SELECT {source} AS source, shard_ids(l.targets, {shard}) AS targets FROM shard{shard}.links l {join}"
)
_VISITS = (
    f"SELECT {_VISIT}, CASE WHEN warc != '' THEN '../{FOLDER}/{{shard}}/warc/' || warc ELSE '' END AS warc,"
    " warc_offset, classes FROM shard{shard}.visits"
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
    views = {
        "urls": " UNION ALL ".join(_of_shard(_URLS, "u", shard) for shard in every),
        "links": " UNION ALL ".join(_of_shard(_LINKS, "l", shard) for shard in every),
        "visits": _numbered(" UNION ALL ".join(_VISITS.format(shard=shard) for shard in every)),
        "hosts": " UNION ALL ".join(f"SELECT * FROM shard{shard}.hosts" for shard in every),
        "robots": " UNION ALL ".join(f"SELECT * FROM shard{shard}.robots" for shard in every),
        "notes": " UNION ALL ".join(f"SELECT * FROM shard{shard}.notes" for shard in every),
        "meta": "SELECT * FROM shard0.meta",
    }
    if db.execute("SELECT count(*) FROM shard0.sqlite_master WHERE name = 'labels'").fetchone()[0]:
        views["labels"] = "SELECT * FROM shard0.labels"  # every shard has all labels
    for name, query in views.items():
        db.execute(f"CREATE TEMP VIEW {name} AS {query}")
    return db


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
    return f"SELECT row_number() OVER (ORDER BY fetched_at) AS n, {_VISIT}, warc, warc_offset, classes FROM ({visits})"


def _global_ids(targets: bytes, shard: int) -> bytes:
    return (np.frombuffer(targets, np.uint32) * REFERENCE + shard).astype(np.uint32).tobytes()
