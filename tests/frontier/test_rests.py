"""What is restored about a host after a restart: it may rest longer, never shorter."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.focus import PATIENCE_S
from lycosa.frontier.hosts import UNREACHABLE_BECAUSE, Host, Hosts
from lycosa.frontier.rests import FULL, UNSAVED_S, Rests, least_rest_s
from lycosa.store.db import CrawlDb

NOW = 10_000.0


def hosts(**rules: Any) -> Hosts:
    fetch = config.Fetch(**{"delay_s": 1.0, "max_delay_s": 300.0, **rules})
    return Hosts(fetch, lambda number, rank: True, lambda ids, rank: [*ids])


def restarted(db: CrawlDb, now: float, most_pages: int = 0, **rules: Any) -> Host:
    found = hosts(**rules)
    Rests(db, lambda: now).load(found, most_pages)
    (host,) = found.all
    return host


def saved(db: CrawlDb, now: float = NOW, **facts: Any) -> None:
    """One host, as a run left it."""
    host = Host(0, "a.test")
    for name, value in facts.items():
        setattr(host, name, value)
    rests = Rests(db, lambda: now)
    rests.load(hosts(), 0)
    rests.write(host)
    db.commit()


@given(st.floats(-1_000, 1_000), st.floats(0, 60), st.floats(-5_000, 5_000))
def test_a_host_rests_at_least_its_delay_and_at_most_the_longest(rest_s: float, delay_s: float, later_s: float) -> None:
    db = CrawlDb(":memory:").open()
    saved(db, due_at=NOW + rest_s, delay_s=delay_s)
    now = NOW + later_s
    host = restarted(db, now)
    left = rest_s if later_s < 0 else rest_s - later_s  # a clock that was set back does not make it rest longer
    expected = max(min(left, 300.0), least_rest_s(delay_s))
    assert host.due_at - now == pytest.approx(expected, abs=1e-6)
    assert host.is_quick == (host.due_at - now <= PATIENCE_S)
    db.close()


def test_without_a_delay_there_is_no_least_rest() -> None:
    assert least_rest_s(0.0) == 0.0
    assert least_rest_s(2.0) == 2.0 + UNSAVED_S


@pytest.mark.parametrize(("most", "closed"), [(10, FULL), (9, FULL), (11, ""), (0, "")])
def test_a_full_host_opens_when_more_pages_are_allowed(most: int, closed: str) -> None:
    db = CrawlDb(":memory:").open()
    saved(db, pages=10, closed=FULL)
    assert restarted(db, NOW, most).closed == closed
    db.close()


def test_an_unreachable_host_gets_one_more_try() -> None:
    db = CrawlDb(":memory:").open()
    saved(db, failures=5, closed=f"{UNREACHABLE_BECAUSE} (dns)")
    host = restarted(db, NOW, give_up_after=4)
    assert (host.closed, host.failures) == ("", 3)
    db.close()


def test_a_host_closed_for_another_reason_stays_closed() -> None:
    db = CrawlDb(":memory:").open()
    saved(db, closed="excluded")
    host = restarted(db, NOW)
    assert host.closed == "excluded"
    assert not host.is_quick
    db.close()


def test_the_last_state_of_a_host_counts_and_survives_the_process(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    saved(db, failures=1, pages=3)
    saved(db, failures=2, pages=4, delay_s=5.0)
    db.close()
    db = CrawlDb(tmp_path / "crawl.db").open()
    host = restarted(db, NOW)
    assert (host.name, host.failures, host.pages, host.delay_s) == ("a.test", 2, 4, 5.0)
    db.close()
