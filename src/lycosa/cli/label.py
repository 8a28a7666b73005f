"""Label pages on the terminal, one at a time, and teach the judge with the answers."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from click import getchar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lycosa import build, config, offline, topics
from lycosa.cli.folder import Dir
from lycosa.control import Request, Unreachable
from lycosa.judge.asking import Question, choose
from lycosa.judge.corrected import has_noted
from lycosa.judge.passages import best, passages, worst
from lycosa.output import label_file, terminal
from lycosa.output.passages import marked
from lycosa.output.show import estimate
from lycosa.pages import read_pages
from lycosa.remote import reach
from lycosa.store import labels
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Candidate, Label
from lycosa.store.warc import read_record, to_response
from lycosa.types import BadInput, Link, Page, Reply

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
    """Say of fetched pages whether they are on topic: the judge learns from it, also while the crawl runs.

    Half of the pages are those the judge is least certain of, a quarter the best, a quarter drawn at random from the
    relevant ones. Answers are kept for good, one key each: y, n, s (skip), u (undo), q (quit).
    """
    if import_ and export:
        raise BadInput("label: --import and --export do not go together")
    with closing(_open(directory)) as db:
        if export:
            found = labels.read_labels(db)
            label_file.write_labels(export, found)
            typer.echo(f"{_number(len(found), 'label')} written to {export}")
            return
        known, pages = labels.answers(db), [*labels.candidates(db)]
    questions = [] if import_ else choose(pages, known, count, seed=len(known))
    sent = Sent(directory)
    if import_:
        _import(sent, label_file.read_labels(import_))
    elif not questions:
        typer.echo("there is no page left to ask about: all are labelled, or none has been judged yet")
        return
    else:
        Asking(directory, sent, questions).run()
    _finish(directory, sent, pages)


class Sent:
    """Hands labels to the running crawl, or else stores them for the next run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.number = 0  # labels that stand
        self.waits = False  # are there labels that no crawl has applied?

    def send(self, given: Mapping[str, bool | None], chosen: str) -> None:
        try:
            reach(self.directory, Request("label", labels=dict(given), chosen=chosen))
        except Unreachable:
            offline.label(self.directory, given, chosen)
            self.waits = True
        self.number += sum(-1 if on_topic is None else 1 for on_topic in given.values())


def _import(sent: Sent, found: Sequence[Label]) -> None:
    for chosen in dict.fromkeys(label.chosen for label in found):
        some = [label for label in found if label.chosen == chosen]
        for start in range(0, len(some), _AT_ONCE):
            sent.send({label.url: label.on_topic for label in some[start : start + _AT_ONCE]}, chosen)


def _finish(directory: Path, sent: Sent, before: Sequence[Candidate]) -> None:
    """Say what the labels have changed from beginning to end, and what they tell of the crawl."""
    if sent.waits:
        try:
            offline.apply_labels(directory)
        except BadInput as error:
            raise BadInput(f"{error} (the labels are stored: the next run applies them)") from None
    with closing(_open(directory)) as db:
        if sent.number:
            now = {page.url: page.on_topic for page in labels.candidates(db)}
            changed = sum(now.get(page.url, page.on_topic) != page.on_topic for page in before)
            typer.echo(f"{_number(sent.number, 'label')} changed {_number(changed, 'verdict')}")
        if not has_noted(db):
            why = "an earlier version judged these pages, and labels change nothing there"
            typer.echo(f"lycosa: {directory}: {why} until they are judged again: lycosa rejudge {directory}", err=True)
        if found := labels.precision(labels.count_labels(db)):
            typer.echo(estimate(found))


class Asking:
    """Asks one question after the other."""

    def __init__(self, directory: Path, sent: Sent, questions: Sequence[Question]) -> None:
        self._directory = directory
        self._sent = sent
        self._questions = questions
        self._console = terminal.console()
        self._settings = config.load(directory)[0]
        self._judge = _judge(directory)

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
        say.print(Text(terminal.printable(f"the judge says {said}{f' ({why})' if why else ''}")), soft_wrap=True)
        self._show_text(_stored_page(self._directory, self._settings, page))

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


def _judge(directory: Path) -> Any:
    """The judge as the crawl has taught it, to find the telling passages."""
    topic = topics.load(directory)
    with topic.source.placing():
        topics.prepare(topic, read_pages)
    topics.recall(topic)
    return topic.judge


def _stored_page(directory: Path, settings: config.Config, page: Candidate) -> Page:
    """The copy in the WARC; an empty page where there is none, or none that can be read."""
    if not page.warc:
        return Page()
    try:
        answer = to_response(read_record(directory / "warc" / page.warc, page.warc_offset), page.warc_offset)
        reply = Reply(Link(page.url), page.final_url, answer.status, page.content_type, answer.body)
        return build.make_parsers(settings).parse(reply)
    except (BadInput, OSError, ValueError):
        return Page()


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


def _open(directory: Path) -> CrawlDb:
    config.load(directory)  # says what is wrong if this is not a crawl folder
    return CrawlDb(directory / "crawl.db", readonly=True).open()


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
