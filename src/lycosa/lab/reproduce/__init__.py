"""The five published experiments, repeated: what they claim, what we measured, and whether the effect was reproduced.

from lycosa.lab.reproduce import reproduce
from lycosa.lab.reproduce.testbed import Request

reproduce("rules", Request(), Path("out"), processes=2)
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.lab.reproduce import ontology, ontology_findings, otie, publications, rules, tids
from lycosa.lab.reproduce.process_pool import Outcome, Work, do_all
from lycosa.lab.reproduce.report import PAGE, Report, by_hours, summary, write
from lycosa.lab.reproduce.testbed import Request
from lycosa.lab.writing import check_folder, writing
from lycosa.types import BadInput


class Experiment(NamedTuple):
    """How to create the jobs of an experiment, how to run one, and how to report the outcomes."""

    plan: Callable[[Request], Sequence[Any]]
    work: Work[Any]
    conclude: Callable[[Request, Sequence[Outcome]], Report]


EXPERIMENTS: dict[str, Experiment] = {
    "rules": Experiment(rules.plan, rules.work, rules.conclude),
    "tids": Experiment(tids.plan, tids.work, tids.conclude),
    "publications": Experiment(publications.plan, publications.work, publications.conclude),
    "otie": Experiment(otie.plan, otie.work, otie.conclude),
    "ontology": Experiment(ontology.plan, ontology.work, ontology_findings.conclude),
}
ALL = "all"


def reproduce(
    name: str,
    request: Request,
    out: Path,
    processes: int = 1,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> list[Report]:
    """Run one experiment, or `all`, and write the results; `watch` is called with the number of finished jobs."""
    names = list(EXPERIMENTS) if name == ALL else [name]
    if not set(names) <= set(EXPERIMENTS):
        raise BadInput(f"there is no experiment {name!r} (there are: {', '.join(EXPERIMENTS)}, {ALL})")
    check_folder(out)
    plans = {each: EXPERIMENTS[each].plan(request) for each in names}  # all of them first: problems show at once
    total, done = sum(map(len, plans.values())), 0

    def step() -> None:
        nonlocal done
        done += 1
        watch(done, total)

    watch(0, total)
    reports = []
    for each, jobs in plans.items():
        started = time.monotonic()
        results = do_all(partial(_timed, EXPERIMENTS[each].work), jobs, processes, step)
        outcomes = [result["outcome"] for result in results]
        report = by_hours(EXPERIMENTS[each].conclude(request, outcomes), outcomes)
        timings = {
            "seconds": time.monotonic() - started,
            "cpu_seconds": sum(result["cpu_seconds"] for result in results),
            "processes": processes,
            "jobs": [result["cpu_seconds"] for result in results],
        }
        write(report, timings, out / each if name == ALL else out)
        reports.append(report)
    if name == ALL:
        with writing(out / PAGE):
            (out / PAGE).write_text(summary(reports), encoding="utf-8")
    return reports


def _timed(work: Work[Any], job: Any) -> Outcome:
    started = time.process_time()
    with writing(Path("the folder for temporary files")):  # the only one that jobs write to
        outcome = work(job)
    return {"outcome": outcome, "cpu_seconds": time.process_time() - started}
