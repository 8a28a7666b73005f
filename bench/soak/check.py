"""What a crawl left behind, against what it should have: pages, database, WARC, and the server's log."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from web import DELAY_FACTOR, DELAY_S, MAX_DELAY_S, ODD, Web

SLACK_S = 0.002
NOTICED_S = 0.25  # so late a busy server may see that the crawler has left in the middle of an answer
WAITING, ELSEWHERE = 0, 2  # states of URLs in crawl.db; the latter belong to other shards
SHOWN = 3  # examples of each difference


class Outcome(Struct):
    """What is in a crawl folder."""

    visits: list[tuple[str, str, str, str, int]]  # URL, final URL, error, WARC file, offset
    waiting: set[str]
    done: set[str]
    closed: set[str]  # hosts
    recorded: list[str]  # the target of each answer in the WARC
    places: dict[tuple[str, int], str]  # file and offset to the target
    damage: str

    @property
    def pages(self) -> set[str]:
        return {final for _, final, error, _, _ in self.visits if not error}

    @property
    def fetched(self) -> set[str]:
        """Every URL that was visited or passed on the way of a redirect."""
        return {url for visit in self.visits for url in visit[:2]} | set(self.recorded)


def read(folder: Path) -> Outcome:
    """Of a crawl in shards: of all of them."""
    whole = Outcome([], set(), set(), set(), [], {}, "")
    for part in map(_read, sorted((folder / "shards").glob("[0-9]*")) or [folder]):
        whole.visits += part.visits
        whole.waiting |= part.waiting
        whole.done |= part.done
        whole.closed |= part.closed
        whole.recorded += part.recorded
        whole.places |= part.places
        whole.damage = whole.damage or part.damage
    return whole


def _read(folder: Path) -> Outcome:
    db = sqlite3.connect(f"{(folder / 'crawl.db').absolute().as_uri()}?mode=ro", uri=True)
    try:
        visits = db.execute("SELECT url, final_url, error, warc, warc_offset FROM visits ORDER BY n").fetchall()
        states = db.execute("SELECT url, state FROM urls WHERE state != ?", (ELSEWHERE,)).fetchall()
        closed = {name for (name,) in db.execute("SELECT name FROM hosts WHERE closed != ''")}
    finally:
        db.close()
    recorded, places, damage = read_warc(folder / "warc")
    waiting = {url for url, state in states if state == WAITING}
    return Outcome(visits, waiting, {url for url, _ in states} - waiting, closed, recorded, places, damage)


def read_warc(folder: Path) -> tuple[list[str], dict[tuple[str, int], str], str]:
    """By an independent reader that checks every record's length and digest."""
    recorded: list[str] = []
    places: dict[tuple[str, int], str] = {}
    for path in sorted(folder.iterdir()):
        try:
            with path.open("rb") as file:
                records = ArchiveIterator(file, check_digests="raise")
                for record in records:
                    record.content_stream().read()
                    if record.rec_type == "response":
                        url = record.rec_headers.get_header("WARC-Target-URI")
                        recorded.append(url)
                        places[path.name, records.get_record_offset()] = url
        except (ArchiveLoadFailed, EOFError, OSError, ValueError) as error:
            return recorded, places, f"{path.name}: {type(error).__name__}: {error}"
    return recorded, places, ""


def compare(web: Web, outcome: Outcome, peaceful: Outcome | None, went_wild: bool) -> list[str]:
    """One line for each kind of difference, worst first."""

    def counts(url: str) -> bool:
        """Must this URL end like in any other crawl? Not at hosts that fail, or did for a while."""
        site = web.site(url) if urlsplit(url).netloc in web.by_host else None
        return bool(site and not site.is_dead and site.robots != "lost" and not (went_wild and site.goes_wild))

    known, good = web.expected()
    visited = [visit[0] for visit in outcome.visits]
    settled = {url for url in outcome.waiting if urlsplit(url).netloc in outcome.closed}
    optional = {url for url, spot in web.spots.items() if spot.kind in ODD}
    found = {
        "pages lost": good - outcome.pages,
        "pages that should not be": outcome.pages - good - optional,
        "URLs never heard of": known - outcome.done - outcome.waiting,
        "hosts closed": {f"http://{host}/" for host in outcome.closed},
    }
    lines = [_line(name, urls, counts) for name, urls in found.items()]
    lines += [
        _line("visited twice", _repeated(visited)),
        _line("stored twice", _repeated(outcome.recorded)),
        _line("left waiting without a reason", outcome.waiting - settled),
        _line("done, but never fetched", outcome.done - outcome.fetched),
        _line("pages not in the WARC where the database says", _misplaced(outcome)),
        _line("another error than undisturbed", _changed(outcome, peaceful), lambda text: counts(text.split()[0])),
        f"WARC damaged: {outcome.damage}" if outcome.damage else "",
    ]
    return list(filter(None, lines))


def _line(name: str, urls: Iterable[str], counts: Callable[[str], bool] = bool) -> str:
    kept = sorted(url for url in urls if counts(url))
    more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return f"{len(kept)} {name}: {', '.join(kept[:SHOWN])}{more}" if kept else ""


def _repeated(urls: Iterable[str]) -> set[str]:
    return {url for url, count in Counter(urls).items() if count > 1}


def _misplaced(outcome: Outcome) -> set[str]:
    return {
        final
        for _, final, error, warc, offset in outcome.visits
        if not error and outcome.places.get((warc, offset)) != final
    }


def _changed(outcome: Outcome, peaceful: Outcome | None) -> set[str]:
    """URLs whose visit ended otherwise. Which of several redirects to a page brings it is a matter of time, and so is
    in which way the last try failed at a URL that never answers."""
    if not peaceful:
        return set()
    before = {url: error for url, _, error, _, _ in peaceful.visits}
    now = {url: error for url, _, error, _, _ in outcome.visits}
    return {
        f"{url} ({before[url] or 'a page'} -> {error or 'a page'})"
        for url, error in now.items()
        if url in before and before[url] != error and not {before[url], error} & _REDIRECTED
        if not {before[url], error} <= _PASSING
    }


_REDIRECTED = {"redirect-known", "redirect-loop", "redirect-limit"}
_PASSING = {"timeout", "connect", "disconnected", "incomplete"}


class Request(Struct):
    """One request as the server saw it."""

    at: float
    host: str
    path: str
    ended: float = 0.0  # when its answer was about to be complete, or the crawler left
    how: str = "cut"
    rest_s: float = 0.0
    is_wild: bool = False  # was the answer rubbish?


def read_log(path: Path) -> list[Request]:
    requests: dict[str, Request] = {}
    for line in path.read_text().splitlines():
        at, kind, number, first, second = line.split(" ", 4)
        if kind == "S":
            requests[number] = Request(float(at), host=first, path=second)
        else:
            request = requests[number]
            rest_s, _, wild = second.partition(" ")
            request.ended, request.how, request.rest_s, request.is_wild = float(at), first, float(rest_s), bool(wild)
    return list(requests.values())


def impolite(web: Web, log: Path, forgiven: list[tuple[float, float]]) -> list[str]:
    """Requests too early, two at once, and what robots.txt forbids."""
    by_host: dict[str, list[Request]] = defaultdict(list)
    for request in read_log(log):
        by_host[request.host].append(request)
    wrong: dict[str, list[str]] = defaultdict(list)
    for host, requests in by_host.items():
        site = web.by_host[host]
        delay_s, forbids = DELAY_S, True
        for before, after in zip([None, *requests], requests, strict=False):
            if before and before.path == "/robots.txt":
                forbids = not before.is_wild  # rubbish forbids nothing
            if forbids and site.disallows(after.path):
                wrong["requests robots.txt forbids"].append(f"{host}{after.path}")
            if before is None:
                continue
            missed = any(start <= before.ended <= end for start, end in forgiven)
            if before.path == "/robots.txt" and before.how == "full" and not missed and site.crawl_delay_s:
                delay_s = site.crawl_delay_s
            if late := _too_early(before, after, DELAY_S if missed else delay_s, missed):
                wrong["requests too early"].append(f"{host}{after.path} {late}")
            if before.ended - (NOTICED_S if before.how == "cut" else 0.0) > after.at:
                wrong["requests while another was under way"].append(f"{host}{after.path}")
    return [_line(name, found) for name, found in wrong.items()]


def _too_early(before: Request, after: Request, delay_s: float, missed: bool) -> str:
    """How much too early a request came, in words; empty if it did not."""
    rests = {"delay": (after.at - before.at, delay_s)}
    if before.how == "full" and not missed:
        gap = after.at - before.ended
        rests["delay"] = gap, delay_s
        rests["Retry-After"] = gap, min(before.rest_s, MAX_DELAY_S)
        rests["rest after a slow reply"] = gap, min(DELAY_FACTOR * (before.ended - before.at), MAX_DELAY_S)
    for name, (gap, least) in rests.items():
        if gap < least - SLACK_S:
            return f"({name}: {gap:.3f} s instead of {least:.3f})"
    return ""
