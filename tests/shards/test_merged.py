"""The summary of all shards, while some have ended and others have not."""

import msgspec

from lycosa.frontier.status import Status
from lycosa.process import usage
from lycosa.shards.merged import merged


def part(**more: object) -> dict[str, object]:
    numbers = ("pages", "relevant", "visits", "recent_pages", "recent_harvest_rate", "seconds")
    status = msgspec.to_builtins(Status(3, 2, 1, 2, 1, 1, None, {}, ""))
    return status | dict.fromkeys(numbers, 1) | usage() | {"last_good": {}, "paused": False} | more


def test_only_shards_that_have_ended_say_which_seeds_failed_and_what_was_retried() -> None:
    seed, retried = {"url": "http://a/", "error": "dns", "detail": ""}, {"urls": 2, "failed": 1, "waiting": 0}
    ended = part(failed_seeds=[seed], retried=retried)
    for parts in ([ended, part()], [part(), ended]):
        summary = merged(parts, "")
        assert summary["failed_seeds"] == [seed]
        assert summary["retried"] == retried
        assert summary["pages"] == 2
    assert "failed_seeds" not in merged([part(), part()], "")
    assert merged([ended, ended], "")["retried"]["urls"] == 4


def test_the_status_names_the_host_that_does_not_answer_whichever_shard_it_belongs_to() -> None:
    silent = part(no_answer_since=1.0, next_try=6.0, last_failure="b.example: connect")
    for parts in ([silent, part()], [part(), silent]):
        assert "(b.example: connect)" in merged(parts, "")["status"]
