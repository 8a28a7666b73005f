"""Which strategy finds more, and sooner? Run every strategy on every task, on simulated time: in strict order with one
worker, or in the field, with the politeness and workers of a real crawl.

A finished run is kept as a small file, so a stopped comparison continues where it was. The same comparison gives the
same results, byte for byte, except for the timings.
"""

import dataclasses
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import xxhash
from msgspec import Struct
from msgspec.structs import replace

from lycosa import build, config
from lycosa.files import write_whole
from lycosa.lab import baselines, estimates, results
from lycosa.lab.answer import Pages
from lycosa.lab.estimates import Steps
from lycosa.lab.judges import Miner, judge_of
from lycosa.lab.one import LAB, crawl_web
from lycosa.lab.person import Asked, person_of
from lycosa.lab.prepare import Preparation, Prepared, by_chance, judge_for
from lycosa.lab.replay import Fenced
from lycosa.lab.results import Facts, Results, Run, Timing, facts, measure
from lycosa.lab.tasks import Plan, slug
from lycosa.lab.webs import open_web
from lycosa.lab.writing import make_folder, writing
from lycosa.parse.memory import keep_memory
from lycosa.plugins import STRATEGY, Plugins
from lycosa.strategy import STRATEGIES
from lycosa.types import BadInput, Prepares

Watch = Callable[[str, int, int], None]  # current step, amount done, total


class Kept(Struct, frozen=True):
    """A finished run as a file."""

    key: str
    run: Run
    timing: Timing


class Job(Struct, frozen=True):
    """One run to do, as plain data that can be sent to another process."""

    prepared: Prepared
    strategy: str
    options: dict[str, Any]
    repeat: int
    path: str
    fetch: config.Fetch | None = None  # settings of a crawl in the field; None: strict order
    latency_s: float = 0.0
    held_out: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """A key that is the same as long as the run would be the same."""
        manners = [self.fetch, self.latency_s] if self.fetch else []
        manners += [self.held_out] if self.held_out else []
        return xxhash.xxh3_64_hexdigest(msgspec.json.encode([self.prepared.key, self.strategy, self.options, *manners]))


def compare(
    plan: Plan, out: Path, jobs: int = 1, watch: Watch | None = None, mine: Miner | None = None, fresh: bool = False
) -> Results:
    """Do all runs that are not finished, or with `fresh` all of them, and write results.json; `mine` mines rules."""
    watch = watch or (lambda what, done, total: None)
    for options in plan.strategies.values():
        _make(options)  # report unknown names and options before anything is trained or crawled
    make_folder(out / "runs")
    todo = list(_jobs(plan, out, watch, mine))
    missing = [job for job in todo if fresh or _kept(job) is None]
    done = len(todo) - len(missing)
    watch("crawling", done, len(todo))
    for _ in _work(missing, jobs):
        done += 1
        watch("crawling", done, len(todo))
    found = _gather(plan, todo)
    results.save(found, out / results.NAME)
    return found


def _jobs(plan: Plan, out: Path, watch: Watch, mine: Miner | None) -> Iterator[Job]:
    """All runs. What does not depend on chance is not repeated."""
    preparation = Preparation(plan, out, mine)
    for number, task in enumerate(plan.tasks):
        watch(f"preparing {task.name}", number, len(plan.tasks))
        for repeat in range(plan.repeat):
            again = by_chance(task)
            prepared = preparation.prepare(task, repeat if again else 0)
            for name, options in plan.strategies.items():
                seeded = _seeded(options, plan.seed, repeat)
                if repeat and not again and seeded == options:
                    continue
                path = out / "runs" / f"{slug(task.name)}--{slug(name)}--{repeat}.json"
                yield Job(prepared, name, seeded, repeat, str(path), plan.fetch, plan.latency_s, plan.held_out)


def _kept(job: Job) -> Kept | None:
    try:
        found = msgspec.json.decode(Path(job.path).read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return found if found.key == job.key else None


def _work(missing: Sequence[Job], jobs: int) -> Iterator[None]:
    """Run in this process, or in several others, each of which reads the webs itself."""
    if jobs <= 1 or len(missing) <= 1:
        for job in missing:
            run(job)
            yield
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(missing)), context, _prepare_worker) as pool:
        started = [pool.submit(_run_encoded, msgspec.json.encode(job)) for job in missing]
        try:
            for finished in as_completed(started):
                finished.result()
                yield
        finally:
            pool.shutdown(wait=True, cancel_futures=True)  # runs in progress are finished and kept


def _prepare_worker() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal; the parent handles it. The process is our own, so the
    memory settings of the command line may be applied here too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_memory()


def _run_encoded(job: bytes) -> None:
    run(msgspec.json.decode(job, type=Job))


def run(job: Job) -> None:
    """Do one run and keep it."""
    prepared, task = job.prepared, job.prepared.task
    web = _web(task.web, prepared.folder)
    judging = prepared.judges[judge_for(job.options, task)]
    judge, person = judge_of(judging), person_of(job.options, job.strategy)
    if person:
        positives = set(prepared.positives)
        judge = Asked(judge, person, lambda url: web.page(url) in positives)
    strategy = baselines.oracle(prepared.oracle, web) if job.options["kind"] == "oracle" else _make(job.options)
    if isinstance(strategy, Prepares):
        try:
            strategy.prepare(Path(judging.home), judge)
        except BadInput as error:
            raise BadInput(f"{job.strategy} on task {task.name!r}: {error}") from None
    started, cpu = time.perf_counter(), time.process_time()
    settings = replace(LAB, fetch=job.fetch) if job.fetch else LAB
    asked = Fenced(web) if task.closed else web
    how: dict[str, Any] = {"settings": settings, "latency_s": job.latency_s}
    steps = Steps(web.page)
    how["sinks"] = [steps] if job.held_out else []
    crawl = crawl_web(asked, prepared.seeds, judge, strategy, task.pages, **how)
    timing = Timing(round(time.perf_counter() - started, 3), round(time.process_time() - cpu, 3))
    measured = measure(prepared, job.strategy, job.repeat, crawl, web)
    measured = replace(
        measured,
        labels=len(judge.labels) if person else 0,
        estimates=estimates.score(steps.all, prepared.targets, job.held_out, results.SHARES),
    )
    kept = Kept(job.key, measured, timing)
    with writing(Path(job.path)):
        write_whole(Path(job.path), msgspec.json.encode(kept))


@lru_cache(maxsize=4)
def _web(name: str, folder: str) -> Pages:
    return open_web(name, Path(folder))


def _kinds() -> Plugins:
    return Plugins(STRATEGY, {**STRATEGIES, "random": baselines.Random})


def _seeded(options: dict[str, Any], first: int, repeat: int) -> dict[str, Any]:
    """The options of a repetition, with its seed; unchanged if nothing depends on chance."""
    found = {**options, "seed": options.get("seed", first) + repeat} if _varies(options) else options
    if person := person_of(options, options["kind"]):
        seed = person.seed if "seed" in options["person"] else first
        found = {**found, "person": {**options["person"], "seed": seed + repeat}}
    return found


def _varies(options: dict[str, Any]) -> bool:
    """Does the strategy depend on chance?"""
    kind = _kinds().get(options["kind"])
    return kind is not None and any(field.name == "seed" and field.init for field in dataclasses.fields(kind))


def _make(options: dict[str, Any]) -> Any:
    """A new strategy, not prepared yet."""
    if options["kind"] == "oracle":
        return None
    given = {name: value for name, value in options.items() if name not in ("judge", "person")}
    return build.make("strategy", _kinds(), given, config.Source(Path("strategies"), ""))


def _gather(plan: Plan, jobs: Sequence[Job]) -> Results:
    tasks: dict[tuple[str, int], Facts] = {}
    kept: list[Kept] = []
    for job in jobs:
        found = _kept(job)
        if found is None:
            raise BadInput(f"{job.path}: was changed during the comparison")
        kept.append(found)
        repeat = job.repeat if by_chance(job.prepared.task) else 0
        tasks.setdefault((found.run.task, repeat), facts(job.prepared, repeat))
    timings = {f"{one.run.task} / {one.run.strategy} / {one.run.repeat}": one.timing for one in kept}
    return Results(plan.strategies, list(tasks.values()), [one.run for one in kept], timings)
