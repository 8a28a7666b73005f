"""summary.json: the current totals of a crawl."""

from pathlib import Path
from typing import Any

import msgspec

from lycosa import config
from lycosa.files import write_whole
from lycosa.frontier.status import Status
from lycosa.process import usage
from lycosa.store.visits import Totals

NAME = "summary.json"


def summarise(totals: Totals, status: Status, limits: config.Limits, seconds: float) -> dict[str, Any]:
    """The totals of a crawl, the state of its frontier, its remaining limits and the resources it has used."""
    return {
        "pages": totals.pages,
        "relevant": totals.relevant,
        "harvest_rate": totals.relevant / totals.pages if totals.pages else 0.0,
        "visits": totals.visits,
        "duplicates": totals.duplicates,
        "bytes": totals.bytes,
        "errors": dict(totals.errors.most_common()),
        **{name: getattr(status, name) for name in status.__struct_fields__},
        "seconds": round(seconds, 3),
        **usage(),
        "limits": msgspec.to_builtins(limits),
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Written atomically, as it may be read at any time."""
    write_whole(folder / NAME, msgspec.json.format(msgspec.json.encode(summary), indent=2))
