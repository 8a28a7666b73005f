"""summary.json: the totals of a crawl as they are now."""

from pathlib import Path
from typing import Any

import msgspec

from lycosa import config
from lycosa.files import write_whole
from lycosa.frontier.status import Outlook
from lycosa.process import usage
from lycosa.store.visits import Totals

NAME = "summary.json"


def summarise(totals: Totals, outlook: Outlook, limits: config.Limits, seconds: float) -> dict[str, Any]:
    """What a crawl has, how its frontier stands, what it may still do and what it has used."""
    return {
        "pages": totals.pages,
        "relevant": totals.relevant,
        "harvest_rate": totals.relevant / totals.pages if totals.pages else 0.0,
        "visits": totals.visits,
        "duplicates": totals.duplicates,
        "bytes": totals.bytes,
        "errors": dict(totals.errors.most_common()),
        **{name: getattr(outlook, name) for name in outlook.__struct_fields__},
        "seconds": round(seconds, 3),
        **usage(),
        "limits": msgspec.to_builtins(limits),
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Whole or not at all: somebody may be reading it."""
    write_whole(folder / NAME, msgspec.json.format(msgspec.json.encode(summary), indent=2))
