"""`--verbose`: print the log to standard error as the command runs."""

import logging

import typer

from lycosa.log import without_passwords


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_passwords(super().format(record))


def be_verbose(wanted: bool) -> None:
    """Print everything that Lycosa logs, each visit included."""
    if not wanted:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("lycosa")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


VERBOSE = typer.Option("--verbose", "-v", help="Print the log, each visit included, to standard error.")
