"""Hooks of mkdocs: pages that lie outside docs/ join the site, and links between the two lead where they do on disk."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
OUTSIDE = ("examples/README.md", "examples/plugin/README.md")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    for path in OUTSIDE:
        files.append(File.generated(config, path, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A link to a file of the repository that is not part of the site becomes its name."""
    here = page.file.src_uri
    on_disk = here if here in OUTSIDE else f"docs/{here}"

    def rewritten(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(on_disk), target))
        if path.startswith("docs/"):
            place = path.removeprefix("docs/")
        elif path in OUTSIDE:
            place = path
        elif (ROOT / path).exists():
            return text
        else:
            return found[0]
        return f"[{text}]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{anchor})"

    return _LINK.sub(rewritten, markdown)
