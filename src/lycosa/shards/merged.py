"""One summary of a crawl, from those of its shards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lycosa.frontier.status import Status, sentence_on
from lycosa.process import usage

_SUMS = (
    *("pages", "relevant", "visits", "duplicates", "bytes", "waiting", "in_flight", "hosts", "hosts_due"),
    *("hosts_resting", "held_back", "known", "recent_pages", "may_pass"),
)
_COUNTS = ("errors", "refused", "unreachable")
_EARLIEST = ("next_due", "no_network_since", "no_answer_since", "next_try")
_FIELDS = Status.__struct_fields__


def merged(parts: Sequence[Mapping[str, Any]], ended: str) -> dict[str, Any]:
    """The summary of the whole crawl, of whose shards the first one estimates the recall of all; `ended` says why it is
    over, if it is."""
    found = dict(parts[0])
    for name in _SUMS:
        if name in found:
            found[name] = sum(part.get(name, 0) for part in parts)
    for name in _COUNTS:
        if name in found:
            total: Counter[str] = Counter()
            for part in parts:
                total.update(part.get(name, {}))
            found[name] = dict(total.most_common())
    for name in _EARLIEST:
        found[name] = min((part[name] for part in parts if part.get(name) is not None), default=None)
    found["harvest_rate"] = found["relevant"] / found["pages"] if found["pages"] else 0.0
    recent = sum(part["recent_pages"] * part["recent_harvest_rate"] for part in parts)
    found["recent_harvest_rate"] = recent / found["recent_pages"] if found["recent_pages"] else 0.0
    found["last_failure"] = next((part["last_failure"] for part in parts if part.get("last_failure")), "")
    found["last_good"] = next((part["last_good"] for part in parts if part["last_good"]), {})
    found["seconds"] = max(part["seconds"] for part in parts)
    own = usage()
    found |= {name: round(own[name] + sum(part[name] for part in parts), 3) for name in own}
    if failed := [part["failed_seeds"] for part in parts if "failed_seeds" in part]:  # by those that have ended
        found["failed_seeds"] = [seed for seeds in failed for seed in seeds]
    if retried := [part["retried"] for part in parts if "retried" in part]:
        found["retried"] = {name: sum(one[name] for one in retried) for name in retried[0]}
    found["drift"] = next((part["drift"] for part in parts if part.get("drift")), "")
    found["paused"] = all(part["paused"] for part in parts)
    found["ended"] = ended
    status = msgspec.convert({name: found[name] for name in _FIELDS}, Status)
    return found | {"status": sentence_on(status), "shards": len(parts)}
