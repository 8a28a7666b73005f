"""One sentence says why little happens."""

import re
from typing import Any

import pytest

from lycosa.frontier.status import Status, sentence_on

QUIET: dict[str, Any] = {
    "known": 9,
    "waiting": 9,
    "in_flight": 0,
    "hosts": 5,
    "hosts_due": 0,
    "hosts_resting": 0,
    "next_due": None,
    "refused": {},
    "ended": "",
}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"ended": "limit of 3 pages", "hosts_resting": 2}, "limit of 3 pages"),
        ({"hosts_due": 1}, ""),
        ({"in_flight": 1, "hosts_due": 1, "hosts_resting": 3}, ""),
        ({"hosts_resting": 1}, "1 host resting until later"),
        (
            {"hosts_due": 41, "held_back": 41, "hosts_resting": 3},
            "3 good hosts resting; 41 others have nothing good enough",
        ),
        (
            {"hosts_due": 2, "held_back": 1, "in_flight": 1, "hosts_resting": 1},
            "1 good host answering, 1 good host resting; 1 other has nothing good enough",
        ),
    ],
)
def test_the_sentence(facts: dict[str, Any], words: str) -> None:
    assert sentence_on(Status(**{**QUIET, **facts})) == words


def test_the_time_is_told() -> None:
    told = sentence_on(Status(**{**QUIET, "hosts_resting": 4, "next_due": 1_000_000.0}))
    assert told.startswith("4 hosts resting until ")
    assert told.count(":") == 2


def test_an_outage_is_told_before_all_else() -> None:
    down = sentence_on(Status(**{**QUIET, "in_flight": 8, "no_network_since": 86_400.0, "next_try": 86_700.0}))
    assert re.fullmatch(r"no network since \d\d:\d0:00; next try \d\d:\d5:00", down)


def test_where_it_may_be_the_hosts_no_network_is_blamed() -> None:
    since = {"no_answer_since": 86_400.0, "next_try": 86_700.0, "last_failure": "e.org: dns"}
    down = sentence_on(Status(**{**QUIET, "in_flight": 8, **since}))
    assert re.fullmatch(r"no host has answered since \d\d:\d0:00 \(e.org: dns\); next try \d\d:\d5:00", down)
