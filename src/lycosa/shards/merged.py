"""One summary of a crawl, from those of its shards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lycosa.frontier.status import Outlook, status_of
from lycosa.process import usage

_SUMS = (
    *("pages", "relevant", "visits", "duplicates", "bytes", "waiting", "in_flight", "hosts", "hosts_due"),
    *("hosts_resting", "held_back", "known", "recent_pages", "may_pass"),
)
_COUNTS = ("errors", "refused", "unreachable")
_EARLIEST = ("next_due", "no_network_since", "no_answer_since", "next_try")
_OF_ONE = ("recall", "drift")  # estimated from the visits of a single process
_FIELDS = Outlook.__struct_fields__


def merged(parts: Sequence[Mapping[str, Any]], ended: str) -> dict[str, Any]:
    """The summary of the whole crawl; `ended` says why it is over, if it is."""
    found = {name: value for name, value in parts[0].items() if name not in _OF_ONE}
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
    found["last_good"] = next((part["last_good"] for part in parts if part["last_good"]), {})
    found["seconds"] = max(part["seconds"] for part in parts)
    own = usage()
    found |= {name: round(own[name] + sum(part[name] for part in parts), 3) for name in own}
    if "failed_seeds" in found:
        found["failed_seeds"] = [seed for part in parts for seed in part["failed_seeds"]]
    if "retried" in found:
        found["retried"] = {name: sum(part["retried"][name] for part in parts) for name in found["retried"]}
    found["paused"] = all(part["paused"] for part in parts)
    found["ended"] = ended
    outlook = msgspec.convert({name: found[name] for name in _FIELDS}, Outlook)
    return found | {"status": status_of(outlook), "shards": len(parts)}
