"""Runs a crawl folder in as many processes as its crawl.toml says: in this one, or as a fleet."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lycosa import config
from lycosa.loops import blocking
from lycosa.process import loop_runner
from lycosa.run import lock
from lycosa.session import Session, naming_state, run_folder, run_locked
from lycosa.shards import layout
from lycosa.shards.fleet import Fleet
from lycosa.shards.sites import away, bring_home


@blocking
def run_shards(
    folder: Path,
    overrides: list[str],
    extra_seeds: list[str],
    watch: Callable[[dict[str, Any]], None],
    retry_failed: bool = False,
) -> tuple[dict[str, Any], Session | Fleet]:
    """Crawl a folder until it is done, stopped or failed; for commands, not for libraries."""
    settings, source = config.load(folder, overrides)
    found, shards = source.path.parent, layout.wanted_shards(settings)
    if shards == 1 and not layout.homes(found) and not settings.run.cluster:
        return run_folder(folder, overrides, extra_seeds, watch, retry_failed)
    if shards > 1 or settings.run.cluster:
        layout.check(settings, source)
    with lock(found, may_be_away=True), naming_state(found), source.placing():
        bring_home(found)
        layout.arrange(found, shards)
        if shards == 1:
            return run_locked(folder, overrides, extra_seeds, watch, retry_failed)
        with away(found, settings) as sites:
            fleet = Fleet(found, settings, overrides, sites)
            summary = loop_runner()(fleet.run(extra_seeds, watch, retry_failed))
    return summary, fleet
