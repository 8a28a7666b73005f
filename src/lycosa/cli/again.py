"""`lycosa again`: the next crawl starts where the last one found most."""

from pathlib import Path
from typing import Annotated

import typer

from lycosa import config
from lycosa.again import make_next


def again(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The last crawl.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEWDIR", help="The folder of the next one.", show_default=False)],
    n_seeds: Annotated[int, typer.Option("--seeds", min=1, help="So many of the best hubs at most.")] = 600,
    accepted: Annotated[bool, typer.Option("--accepted", help="Only pages on topic, and links between them.")] = False,
) -> None:
    """Make the folder of the next crawl: it starts from the best hubs of the last and knows what that one learned."""
    hubs = make_next(directory, new, n_seeds, accepted)
    typer.echo(f"{new / config.NAME} written: {hubs} hubs to start from, best first; then: lycosa crawl {new}")
