"""Label pages on the terminal, one at a time, and teach the judge with the answers."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from click import getchar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lycosa import config, labelling
from lycosa.cli.folder import Dir
from lycosa.judge.corrected import has_noted
from lycosa.judge.passages import best, passages, worst
from lycosa.labelling import (
    Question,
    Sent,
    count_changed,
    number_of,
    open_crawl,
    precision,
    stored_page,
    taught_judge,
    what_changed,
)
from lycosa.output import label_file, terminal
from lycosa.output.passages import marked
from lycosa.output.show import estimate
from lycosa.store import labels
from lycosa.store.labels import Candidate, Label
from lycosa.types import BadInput, Page

_KEYS = "y n s u q"
_PROMPT = "on topic? [y]es [n]o [s]kip [u]ndo [q]uit: "
_AT_ONCE = 300  # labels in one request to a running crawl, which takes no line of more than a megabyte
_REASONS = 6  # of a verdict that are shown
_OPENING = 60  # words of a page without telling passages


def label(
    directory: Dir,
    count: Annotated[int, typer.Option(help="How many pages to ask about.", min=1)] = 20,
    import_: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Read labels from a .tsv or .jsonl file instead.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all labels to a .tsv or .jsonl file instead.")
    ] = None,
) -> None:
    """Label fetched pages as on topic or not: the judge learns from it, even while the crawl runs.

    Half of the pages are those the judge is least certain of, a quarter the best, a quarter drawn at random from the
    relevant ones. Answers are kept for good, one key each: y, n, s (skip), u (undo), q (quit).
    """
    if import_ and export:
        raise BadInput("label: --import and --export do not go together")
    if export:
        with closing(open_crawl(directory)) as db:
            found = labels.read_labels(db)
        label_file.write_labels(export, found)
        typer.echo(f"{number_of(len(found), 'label')} written to {export}")
        return
    questions, before = labelling.questions(directory, 0 if import_ else count)
    sent = Sent(directory)
    if import_:
        _import(sent, label_file.read_labels(import_))
    elif not questions:
        typer.echo("there is no page left to ask about: all are labelled, or none has been judged yet")
        return
    else:
        Asking(directory, sent, questions).run()
    _finish(directory, sent, before)


def _import(sent: Sent, found: Sequence[Label]) -> None:
    for chosen in dict.fromkeys(label.chosen for label in found):
        some = [label for label in found if label.chosen == chosen]
        for start in range(0, len(some), _AT_ONCE):
            sent.send({label.url: label.on_topic for label in some[start : start + _AT_ONCE]}, chosen)


def _finish(directory: Path, sent: Sent, before: Mapping[str, bool]) -> None:
    """Say what the labels have changed from beginning to end, and what they tell of the crawl."""
    sent.apply()
    with closing(open_crawl(directory)) as db:
        if sent.number:
            typer.echo(what_changed(sent.number, count_changed(db, before)))
        if not has_noted(db):
            why = "an earlier version judged these pages, and labels change nothing there"
            typer.echo(f"lycosa: {directory}: {why} until they are judged again: lycosa rejudge {directory}", err=True)
        if found := precision(db):
            typer.echo(estimate(found))


class Asking:
    """Asks one question after the other."""

    def __init__(self, directory: Path, sent: Sent, questions: Sequence[Question]) -> None:
        self._directory = directory
        self._sent = sent
        self._questions = questions
        self._console = terminal.console()
        self._settings = config.load(directory)[0]
        self._judge = taught_judge(directory)

    def run(self) -> None:
        """Until all are answered, or the person has enough; each answer is kept at once."""
        answered: list[tuple[int, bool]] = []  # the place of each question that was asked, and whether it was answered
        place = 0
        while place < len(self._questions):
            page, chosen = self._questions[place]
            self._show(place, page, chosen)
            key = _key(self._console)
            if key == "q":
                return
            if key == "u":
                if not answered:
                    self._console.print("nothing to undo")
                    continue
                place, was_label = answered.pop()
                if was_label:
                    self._sent.send({self._questions[place].page.url: None}, chosen)
                continue
            if key != "s":
                self._sent.send({page.url: key == "y"}, chosen)
            answered.append((place, key != "s"))
            place += 1

    def _show(self, place: int, page: Candidate, chosen: str) -> None:
        say = self._console
        say.print(Text(f"\n[{place + 1}/{len(self._questions)}] {chosen}", style="dim"))
        say.print(Text(terminal.printable(page.title) or "(no title)", style="bold"), soft_wrap=True)
        say.print(Text(page.url, style="cyan"), soft_wrap=True)
        about = f", {page.label}" if page.label else ""
        said = f"{'on topic' if page.on_topic else 'off topic'}, relevance {page.relevance:.3f}{about}"
        why = ", ".join(f"{name} {weight:+.2f}" for name, weight in [*page.why.items()][:_REASONS])
        told = Text(terminal.printable(f"the judge says {said}{f' ({why})' if why else ''}"))
        say.print(told, soft_wrap=not say.is_terminal)
        self._show_text(stored_page(self._directory, self._settings, page))

    def _show_text(self, page: Page) -> None:
        found = passages(page, self._judge)
        table = Table.grid(padding=(0, 2))
        for heading, some in (("for", best(found)), ("against", worst(found))):
            for number, passage in enumerate(some):
                shown = marked(passage.text, passage.words, self._console)
                table.add_row("" if number else f"  {heading}", f"{passage.score:.2f}", shown)
        if table.row_count:
            self._console.print(table)
        elif text := page.text.split():
            opening = " ".join(text[:_OPENING])
            self._console.print(Text(f"  {terminal.printable(opening)}{' ...' if len(text) > _OPENING else ''}"))


def _key(console: Console) -> str:
    """One key on a terminal; elsewhere the first letter of a line, and the end of the input is q."""
    is_terminal = sys.stdin.isatty()
    while True:
        console.print(_PROMPT, end="")
        line = getchar() if is_terminal else sys.stdin.readline()
        if not line or line in ("\x04", "\x1b"):
            line = "q"
        key = line.strip().lower()[:1]
        console.print(key)
        if key in _KEYS.split():
            return key
        if not is_terminal:
            raise BadInput(f"label: {line.strip()[:40]!r} is not an answer; write one of {_KEYS} in each line")
