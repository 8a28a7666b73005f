"""Lycosa, a focused web crawler: say what to look for and where to start.

Names are loaded when they are used for the first time, so that `import lycosa` takes no time.
"""

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, whose import would take longer than all the rest
if TYPE_CHECKING:
    from lycosa.api.comparing import Compared, compare
    from lycosa.api.folder import CrawlFolder
    from lycosa.api.stored import Table
    from lycosa.api.topic import Topic
    from lycosa.types import BadInput, Link, Page, Reply, Verdict, Visit

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "Compared",
    "CrawlFolder",
    "Link",
    "Page",
    "Reply",
    "Table",
    "Topic",
    "Verdict",
    "Visit",
    "__version__",
    "compare",
]
_HOMES = {
    "Compared": "lycosa.api.comparing",
    "CrawlFolder": "lycosa.api.folder",
    "Table": "lycosa.api.stored",
    "Topic": "lycosa.api.topic",
    "compare": "lycosa.api.comparing",
    **dict.fromkeys(("BadInput", "Link", "Page", "Reply", "Verdict", "Visit"), "lycosa.types"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'lycosa' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
