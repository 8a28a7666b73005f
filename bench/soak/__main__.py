"""Disturb crawls at random and compare them with undisturbed ones.

make soak MINUTES=60 SEED=1
python bench/soak --seed 1 --round 17                 # one round again
python bench/soak --seed 1 --minutes 10 --only kill,term,disk

A round crawls a small web (see web.py) while faults (see faults.py) strike it, starts the same command again whenever
the crawler ended, and then checks that nothing was lost, nothing stored twice and no host disturbed. What happens in a
round follows from the seed number and the number of the round, as far as real processes repeat themselves.
"""

import shutil
import signal
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from check import Outcome, compare, impolite, read
from faults import FAULTS
from msgspec import Struct
from processes import Disk, WebServer, free_port, write_folder
from stage import Stage, Stalled
from web import Web

STRATEGIES = ("best-first", "learned", "breadth-first")
KINDS_A_ROUND = 3
SPARE_RUNS = 4  # beyond one for each fault


class Result(Struct):
    """What became of one crawl."""

    faults: list[tuple[str, str]]  # kind, and how it struck
    differences: list[str]
    runs: int
    requests: int
    seconds: float
    outcome: Outcome | None = None


class Soak:
    """All rounds; `work` holds the crawl folders and goes away at the end, `out` keeps those of rounds that differ."""

    def __init__(self, given: Namespace, work: Path) -> None:
        self.given = given
        self.work = work
        self.port = free_port()
        self.disk = Disk(work / "disk")
        self.peaceful: dict[tuple[int, str], Result] = {}  # by web and strategy
        self.struck: Counter[str] = Counter()
        self.suspects: Counter[str] = Counter()  # rounds that differed, by the kinds of faults in them
        self.found: Counter[str] = Counter()  # crawls by what differed
        self.rounds = self.differing = 0
        self.kinds = given.only or [kind for kind in FAULTS if not (given.plain and kind == "wild")]
        if "disk" in self.kinds:
            self.disk.mount()

    def round(self, number: int) -> None:
        chance = Random(f"soak {self.given.seed} {number}")
        web = Web(chance.randrange(self.given.webs), self.port, self.given.pages, self.given.plain)
        strategy = chance.choice(STRATEGIES)
        with WebServer(web) as server:
            peaceful = self._undisturbed(server, strategy)
            kinds = chance.sample(self.kinds, min(KINDS_A_ROUND, len(self.kinds)))
            plan = [chance.choice(kinds) for _ in range(self.given.faults)]
            result = self._crawl(server, strategy, plan, chance, peaceful)
        self.rounds += 1
        self.struck.update(kind for kind, _ in result.faults)
        self._tell(number, f"web {web.seed}, {strategy}", result)

    def _undisturbed(self, server: WebServer, strategy: str) -> Result:
        key = server.web.seed, strategy
        if key not in self.peaceful:
            result = self._crawl(server, strategy, [], Random(0), None)
            self.peaceful[key] = result
            self._tell(0, f"web {key[0]}, {strategy}", result)
        return self.peaceful[key]

    def _crawl(
        self, server: WebServer, strategy: str, plan: list[str], chance: Random, peaceful: Result | None
    ) -> Result:
        folder, notes = self.disk.folder / "crawl", self.work / "notes"
        for old in (folder, notes):
            shutil.rmtree(old, ignore_errors=True)
        web, began = server.web, time.monotonic()
        write_folder(folder, web, strategy, chance.choice((8, 32, 64)), chance.choice((0.0, 0.0, 0.9)))
        stage = Stage(server, folder, notes, self.disk)
        faults: list[tuple[str, str]] = []
        every = 3 * peaceful.requests // (2 * len(plan) + 2) if peaceful else 0
        try:
            stage.start()
            for kind in plan:
                least = 1 if faults else -every // 3  # now and then the first one strikes before anything was fetched
                if not stage.until_requests(max(0, chance.randint(least, max(2, every)))) and stage.is_over():
                    break
                if not stage.crawler:  # it ended by itself, and that is noted
                    stage.start()
                how = FAULTS[kind](stage, chance)
                if how is not None:
                    faults.append((kind, how))
                if not stage.crawler and not stage.is_over():
                    stage.start()
            stage.until_over(stage.runs + SPARE_RUNS)
        except Stalled as stalled:
            stage.problems.append(f"stalled: {stalled}")
        finally:
            stage.close()
            server.tell("up")
            self.disk.free()
        differences, outcome = self._check(stage, peaceful)
        return Result(faults, differences, stage.runs, stage.log.requests, time.monotonic() - began, outcome)

    def _check(self, stage: Stage, peaceful: Result | None) -> tuple[list[str], Outcome | None]:
        web = stage.server.web
        manners = impolite(web, stage.log.path, stage.forgiven)
        try:
            outcome = read(stage.folder)
        except Exception as error:
            return [*stage.problems, f"the crawl folder cannot be read: {error!r}", *manners], None
        rest = compare(web, outcome, peaceful.outcome if peaceful else None, stage.went_wild)
        return [*stage.problems, *rest, *manners], outcome

    # -- what is told -------------------------------------------------------------------------------------------------

    def _tell(self, number: int, what: str, result: Result) -> None:
        pages = len(result.outcome.pages) if result.outcome else 0
        name = f"round {number}" if number else "undisturbed"
        verdict = "DIFFERS" if result.differences else "same"
        print(
            f"{name:12} {what}: {pages} pages, {result.requests} requests, {result.runs} runs,"
            f" {result.seconds:.0f} s: {verdict}"
        )
        if result.faults:
            struck = ", ".join(f"{kind} ({how})" if how else kind for kind, how in result.faults)
            print(f"             {struck}")
        for line in result.differences:
            print(f"    differs: {line}")
        if result.differences:
            self.differing += 1
            self.found.update({line.partition(":")[0].lstrip("0123456789 ") for line in result.differences})
            self.suspects.update({kind for kind, _ in result.faults} or {"(undisturbed)"})
            self._keep(number, what)
        sys.stdout.flush()

    def _keep(self, number: int, what: str) -> None:
        kept = self.given.out / (
            f"seed-{self.given.seed}-round-{number}" if number else what.replace(", ", "-").replace(" ", "-")
        )
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for part in (self.disk.folder / "crawl", self.work / "notes"):
            shutil.copytree(part, kept / part.name, ignore=shutil.ignore_patterns("*.sock"))
        print(f"    kept in {kept}" + (f"; again: python bench/soak {self._options(number)}" if number else ""))

    def _options(self, number: int) -> str:
        given = self.given
        options = (
            f"--seed {given.seed} --round {number} --pages {given.pages} --faults {given.faults} --webs {given.webs}"
        )
        options += " --plain" if given.plain else ""
        return options + (f" --only {','.join(given.only)}" if given.only else "")

    def summary(self) -> None:
        print(f"\n{'fault':18} {'struck':>7} {'in rounds that differ':>22}")
        for kind in sorted({*self.struck, *self.suspects}, key=lambda kind: -self.struck[kind]):
            print(f"{kind:18} {self.struck[kind]:7} {self.suspects[kind]:22}")
        for name, crawls in self.found.most_common():
            print(f"{crawls:4} crawls with: {name}")
        crawls = self.rounds + len(self.peaceful)
        print(f"seed {self.given.seed}: {self.rounds} rounds, {sum(self.struck.values())} faults;", end=" ")
        print(
            f"{self.differing} of {crawls} crawls differ"
            if self.differing
            else f"all {crawls} crawls as they should be"
        )


def parse() -> Namespace:
    options = ArgumentParser(prog="soak", description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("--seed", type=int, default=1, help="what happens follows from this number")
    options.add_argument("--minutes", type=float, default=10, help="begin no further round after these")
    options.add_argument("--rounds", type=int, default=0, help="at most so many; 0: as many as there is time for")
    options.add_argument("--round", type=int, default=0, help="only this one")
    options.add_argument("--pages", type=int, default=120, help="about so many pages in each web")
    options.add_argument("--webs", type=int, default=4, help="so many different webs")
    options.add_argument("--plain", action="store_true", help="webs without redirects and without hostile replies")
    options.add_argument("--faults", type=int, default=8, help="in each round, if the crawl lasts that long")
    options.add_argument("--only", type=_kinds, default=[], help=f"kinds of faults: {','.join(FAULTS)}")
    options.add_argument("--out", type=Path, default=Path("bench-out/soak"), help="where rounds that differ are kept")
    return options.parse_args()


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    if wrong := [kind for kind in kinds if kind not in FAULTS]:
        raise ValueError(f"no such fault: {wrong[0]}")
    return kinds


def main() -> int:
    given = parse()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    work = Path(tempfile.mkdtemp(prefix="lycosa-soak-"))
    soak = Soak(given, work)
    end = time.monotonic() + given.minutes * 60
    try:
        number = given.round or 1
        while True:
            soak.round(number)
            number += 1
            if given.round or soak.rounds == given.rounds or time.monotonic() >= end:
                break
    except KeyboardInterrupt:
        print("soak: stopped", file=sys.stderr)
    finally:
        soak.disk.close()
        shutil.rmtree(work, ignore_errors=True)
    soak.summary()
    return 1 if soak.differing else 0


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
