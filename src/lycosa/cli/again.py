"""`lycosa again`: start the next crawl from the best hubs of the last one."""

from pathlib import Path
from typing import Annotated

import typer

from lycosa import config
from lycosa.again import make_next


def again(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The last crawl.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEWDIR", help="The folder to create.", show_default=False)],
    n_seeds: Annotated[int, typer.Option("--seeds", min=1, help="Use at most this many hubs.")] = 600,
    accepted: Annotated[
        bool, typer.Option("--accepted", help="Use only pages on topic, and links between them.")
    ] = False,
) -> None:
    """Create the folder of a follow-up crawl, which starts from the best hubs of the last and keeps what it learned."""
    hubs = make_next(directory, new, n_seeds, accepted)
    typer.echo(f"{new / config.NAME} written, with {hubs} hubs as seeds, best first. Next: lycosa crawl {new}")
