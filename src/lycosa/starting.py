"""What a run starts from: the seeds, and URLs that failed before and are tried again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lycosa.build import Parts
from lycosa.outcomes import may_pass
from lycosa.seeds.file import read_seeds
from lycosa.store import orders, retry
from lycosa.types import Link, Origin


class Start:
    """The seeds and retries of one run."""

    def __init__(self, parts: Parts, written_in: Path) -> None:
        """`written_in`: the folder of crawl.toml, to which the names of files are relative."""
        self._parts = parts
        self._written_in = written_in
        self.seeds: list[Link] = []
        self.skipped: list[str] = []  # invalid seeds, and why
        self._retried: list[retry.Failure] | None = None  # None unless retrying was requested

    def read(self, extra: Sequence[str]) -> None:
        """Read the seeds from crawl.toml, from the command line, and those that were added while the crawl ran."""
        parts = self._parts
        good, self.skipped = read_seeds(parts.config.seeds, self._written_in)
        more, wrong = read_seeds([*extra], self._written_in)
        self.skipped += wrong
        added, recall = [*more, *orders.added_seeds(parts.db)], parts.recall
        recall.give_away(added)
        self.skipped += recall.notes()
        for url in dict.fromkeys([*(url for url in good if url not in recall.held_out), *added]):
            if refusal := parts.frontier.scope.refuses(url):
                self.skipped.append(f"{url}: {refusal}, skipped")
            else:
                self.seeds.append(Link(url, origin=Origin.SEED))

    def add(self, found: Sequence[str]) -> None:
        """More seeds, while the crawl runs."""
        before = {seed.url for seed in self.seeds}
        self.seeds += [Link(url, origin=Origin.SEED) for url in dict.fromkeys(found) if url not in before]

    def reopen(self, retry_failed: bool) -> None:
        """Retry failed seeds, and on request all URLs that failed for a reason that may be temporary.

        As long as there are no pages, every failed seed is retried: the user may have changed anything.
        """
        db, nothing_yet = self._parts.db, not self._parts.totals.pages
        seeds = [seed.url for seed in self.seeds]
        chosen = [one for one in retry.failures(db, seeds) if nothing_yet or self._may_pass(one.error)]
        if retry_failed:
            self._retried = [one for one in retry.failures(db) if self._may_pass(one.error)]
            retry.open_hosts(db)
        retry.reopen(db, chosen + (self._retried or []))
        retry.open_hosts(db, retry.unknown(db, seeds))

    def outcome(self) -> dict[str, Any]:
        """What the final summary contains besides the totals: failed seeds, and what another run may retry."""
        parts, seeds = self._parts, [seed.url for seed in self.seeds]
        # a redirect to a known URL is not a failure: it leads to a page that was fetched from another URL
        failed = {one.url: one for one in retry.failures(parts.db) if one.error != retry.REDIRECTED}
        found: dict[str, Any] = {
            "seeds": len(seeds),
            "failed_seeds": [
                {"url": url, "error": failed[url].error, "detail": failed[url].detail} for url in seeds if url in failed
            ],
            "unreachable": parts.frontier.unreachable(),
            "may_pass": sum(self._may_pass(one.error) for one in failed.values()),
        }
        if self._retried is not None:
            waiting = retry.waiting(parts.db, [one.url for one in self._retried])
            again = sum(one.url in failed for one in self._retried)
            found["retried"] = {"urls": len(self._retried), "failed": again, "waiting": waiting}
        return found

    def _may_pass(self, error: str) -> bool:
        if error == "private-address":
            return self._parts.config.fetch.allow_private
        return may_pass(error)
