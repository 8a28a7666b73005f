"""Regenerate docs/command-line.md from the help texts of the commands: python scripts/command_line.py"""

from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from lycosa.cli import mount_the_rest

app = mount_the_rest()
PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
INTRODUCTION = """\
# Command line

Exit codes: 0 success; 1 a crawl without any pages (its last lines name the seeds that failed, and why), or problems found by
`lycosa check`; 2 bad input (one line on standard error says what and where); 70 a bug (one line names it; if it is in a judge or
strategy, `crawl.log` has the traceback); 130 stopped by the user. Long-running commands show progress: live on a terminal, as
plain lines elsewhere, on standard error with `--json`. Ctrl-C stops cleanly; the same command continues.
`lycosa --verbose COMMAND` prints the log.

This page is generated from `--help` by `scripts/command_line.py`.
"""


def helps(words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Each command with its help text; a group comes before its commands."""
    text = (
        CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "100", "TERM": "dumb"}, prog_name="lycosa").output
    )
    if words:
        yield " ".join(["lycosa", *words]), text.strip()
    _, found, commands = text.partition("Commands:\n")
    if found:
        for line in commands.splitlines():
            if line.startswith("  ") and line[2:3].strip():
                yield from helps((*words, line.split()[0]))


def page() -> str:
    parts = [INTRODUCTION]
    for name, text in helps():
        body = "\n".join(line.rstrip() for line in text.splitlines())
        parts.append(f"## {name}\n\n```\n{body}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
