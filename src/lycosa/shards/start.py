"""Runs a crawl folder in as many processes as its crawl.toml says: in this one, or as a fleet."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa import config
from lycosa.locking import lock
from lycosa.loops import blocking
from lycosa.process import loop_runner
from lycosa.session import Session, naming_state, run_folder
from lycosa.shards import layout

if TYPE_CHECKING:
    from lycosa.shards.fleet import Fleet


@blocking
def run_shards(
    folder: Path,
    overrides: list[str],
    extra_seeds: list[str],
    watch: Callable[[dict[str, Any]], None],
    retry_failed: bool = False,
) -> "tuple[dict[str, Any], Session | Fleet]":
    """Crawl a folder until it is done, stopped or failed; for commands, not for libraries."""
    settings, source = config.load(folder, overrides)
    found, shards = source.path.parent, layout.wanted_shards(settings)
    if shards == 1 and not layout.homes(found) and not settings.run.cluster:
        return run_folder(folder, overrides, extra_seeds, watch, retry_failed)
    from lycosa.shards.fleet import Fleet  # these take a moment to load, and most crawls do not need them
    from lycosa.shards.forks import can_fork
    from lycosa.shards.sites import away, bring_home

    layout.check(settings, source)
    with lock(found, may_be_away=True), naming_state(found), source.placing():
        bring_home(found)
        layout.arrange(found, shards)
        if shards == 1:
            return run_folder(folder, overrides, extra_seeds, watch, retry_failed, has_lock=True)
        layout.hold_out(found, settings, source)
        with away(found, settings) as sites:
            fleet = Fleet(found, settings, overrides, sites)
            if can_fork():
                fleet.fork(extra_seeds, retry_failed)
            summary = loop_runner()(fleet.run(extra_seeds, watch, retry_failed))
    return summary, fleet
