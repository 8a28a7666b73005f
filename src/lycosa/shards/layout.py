"""Where the shards of a crawl are stored: one folder each, `shards/0`, `shards/1`, ..., with a database and WARC files.

A crawl of one shard has no such folder: its crawl.db and warc/ are directly in the crawl folder. A crawl can go on with
another number of shards: its folder is converted when it starts. As long as `shards` exists, it holds the truth; it
appears and disappears by renaming, so a conversion that is interrupted has not happened.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

from lycosa import config
from lycosa.build import make_scope
from lycosa.errors import BadInput
from lycosa.files import part_of
from lycosa.locking import lock
from lycosa.recalling import make_estimate, resume, save
from lycosa.rejudge import rejudge_locked
from lycosa.shards.messages import Fragment, Offer, Status, decode_letters
from lycosa.shards.routing import Routing
from lycosa.shards.searching import SEARCHER
from lycosa.store import labels, searches, shard_split, visits
from lycosa.store.db import CrawlDb
from lycosa.store.shard_rows import ShardRows
from lycosa.store.shard_views import FOLDER, require_all, shard_folders
from lycosa.store.visits import warc_end
from lycosa.store.warc import SERIES, file_number

END_S = 10.0  # how long to wait for shards of a main process that was killed
_UNLEARNED = "crawl.unlearned"  # a file that says: what was learned has yet to be learned again from the stored pages


def wanted_shards(settings: config.Config) -> int:
    """The number of shards according to crawl.toml."""
    shards = settings.run.shards
    if shards == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, config.MOST_SHARDS)
    return shards


def check(settings: config.Config, source: config.Source) -> None:
    """Raise ConfigError if something that a cluster needs is missing."""
    run = settings.run
    if not run.cluster:
        return
    if run.shards in (1, "auto"):
        raise source.blame("run.shards", "on a cluster, this is a number of at least 2, for example one per node")
    if not run.store:
        raise source.blame("run.store", "a crawl on a cluster needs a folder, or s3://..., that all nodes can reach")
    if find_spec("ray") is None:
        raise source.blame("run.cluster", "needs Ray: pip install 'lycosa[cluster]'")


def homes(folder: Path) -> list[Path]:
    """The folders of the shards; empty if there is only one. Raises BadInput if one of them is missing."""
    found = shard_folders(folder)
    if found:
        with closing(CrawlDb(found[0] / "crawl.db", readonly=True).open()) as db:
            require_all(found, {"shards": db.get("shards", "0")})
    return found


def standings(folder: Path) -> list[Status]:
    """What each shard has fetched; the caller must hold the folder's lock, and no shard may be running."""
    found = []
    for shard, home in enumerate(homes(folder)):
        totals = visits.Totals(distinct=True)
        with lock(home), closing(CrawlDb(home / "crawl.db", readonly=True).open()) as db:
            totals.load(db)
        found.append(Status(shard, pages=totals.pages, relevant=totals.relevant, duplicates=totals.duplicates))
    return found


def arrange(folder: Path, shards: int) -> None:
    """Convert a crawl folder to this number of shards; the caller must hold its lock."""
    _wait_for_shards(folder)
    before = len(homes(folder)) or 1
    if before == shards:
        _finish_gathering(folder)
        return
    if before > 1:
        gather(folder)
    if shards > 1:
        scatter(folder, shards)


def hold_out(folder: Path, settings: config.Config, source: config.Source) -> None:
    """Let all shards hold out the same pages: those of earlier runs, or a sample of what no shard has been given."""
    with source.placing():
        estimate = make_estimate(folder, folder, settings, make_scope(settings).refuses)
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as db:
        resume(estimate, db)
    for home in homes(folder):
        with lock(home), closing(CrawlDb(home / "crawl.db").open()) as db:
            save(estimate, db)
            db.commit()


def _wait_for_shards(folder: Path) -> None:
    """If the main process was killed, its shards notice, commit and end: until then, their databases may change."""
    until = time.monotonic() + END_S
    for home in homes(folder):
        while True:
            try:
                with lock(home):
                    break
            except BadInput:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)


def scatter(folder: Path, shards: int) -> None:
    """Divide a crawl, new or not, among several shards."""
    new = folder / f"{FOLDER}.new"
    shutil.rmtree(new, ignore_errors=True)
    secret = str(secrets.randbits(64))  # all shards must compute the digests of bodies in the same way
    last = max((file_number(path.name) // SERIES for path in (folder / "warc").glob("*.warc.gz")), default=0)
    for shard in range(shards):
        home = new / str(shard)
        home.mkdir(parents=True)
        if (folder / "crawl.db").exists():
            routing = Routing(shard, shards)
            databases = folder / "crawl.db", home / "crawl.db"
            shard_split.take_share(*databases, shard, routing.owner, routing.decides)
            _show_records(folder / "warc", home / "warc")
        with closing(CrawlDb(home / "crawl.db").open()) as db:
            db.put("secret", db.get("secret", secret))
            db.put("shards", str(shards))
            db.put(visits.SERIES, str(last + shard + 1))
            db.commit()
    new.rename(folder / FOLDER)
    _remove_db(folder / "crawl.db")


def gather(folder: Path) -> None:
    """Make one database of those of all shards, and learn again from the stored pages."""
    unite(folder)
    _finish_gathering(folder)


def unite(folder: Path) -> None:
    """Make one database of those of all shards. What was learned is not in it."""
    new = folder / "crawl.db.new"
    _remove_db(new)
    with closing(CrawlDb(folder / "crawl.db", readonly=True).open()) as all_, closing(CrawlDb(new).open()) as one:
        shard_split.gather(all_, one)
        shard_split.copy_labels(all_, one, lambda db: labels.put_labels(db, {}, "import", 0.0))
        with closing(CrawlDb(homes(folder)[SEARCHER] / "crawl.db", readonly=True).open()) as searcher:
            searches.copy(searcher, one)
        shard_split.queue_undelivered(one, _undelivered(homes(folder)))
        one.commit()
    shard_split.collapse(new)
    for home in homes(folder):
        _bring_records(home, folder / "warc")
    (folder / _UNLEARNED).touch()
    _remove_db(folder / "crawl.db")  # of a killed conversion: its log must not be taken for that of the new database
    new.rename(folder / "crawl.db")
    old = folder / f"{FOLDER}.old"
    shutil.rmtree(old, ignore_errors=True)
    (folder / FOLDER).rename(old)
    shutil.rmtree(old)


def _finish_gathering(folder: Path) -> None:
    """Let judge and strategy learn from the stored pages, if that has not happened yet."""
    if not homes(folder) and (folder / _UNLEARNED).exists():
        settings, source = config.load(folder)
        if settings.store.warc:
            rejudge_locked(settings, source, lambda done, of: None)
        has_learned(folder)


def has_learned(folder: Path) -> None:
    """All stored pages have been judged again."""
    (folder / _UNLEARNED).unlink(missing_ok=True)


def _undelivered(folders: list[Path]) -> Iterator[tuple[str, float]]:
    for shard, home in enumerate(folders):
        with closing(CrawlDb(home / "crawl.db").open()) as db:
            rows = ShardRows(db)
            rows.create()
            for target in range(len(folders)):
                for _, body in rows.batches(target) if target != shard else ():
                    for letter in decode_letters(body):
                        if isinstance(letter, Fragment):
                            yield from ((link[0], letter.relevance) for link in letter.links)
                        elif isinstance(letter, Offer):
                            yield from zip((link.url for link in letter.links), letter.scores, strict=True)


def _show_records(warc: Path, target: Path) -> None:
    """Links to the WARC files from before; the shard writes files of its own."""
    target.mkdir()
    for path in warc.glob("*.warc.gz"):
        (target / path.name).symlink_to(Path("..", "..", "..", "warc", path.name))


def _bring_records(home: Path, warc: Path) -> None:
    """Bring the WARC files of a shard, without what a killed run wrote after its last commit."""
    warc.mkdir(exist_ok=True)
    with closing(CrawlDb(home / "crawl.db", readonly=True).open()) as db:
        name, end = warc_end(db)
    for path in (home / "warc").glob("*.warc.gz"):
        if path.is_symlink() or (warc / path.name).exists() or file_number(path.name) > file_number(name):
            continue
        if path.name == name and path.stat().st_size > end:
            os.truncate(path, end)
        try:
            os.link(path, warc / path.name)
        except OSError:  # a file system without links
            with part_of(warc / path.name) as part, path.open("rb") as source:
                shutil.copyfileobj(source, part)


def _remove_db(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
