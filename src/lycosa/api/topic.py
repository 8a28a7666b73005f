"""A topic for programs: judge a page, train, test."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lycosa import config, topics
from lycosa.api.background import in_background
from lycosa.api.written import document
from lycosa.judge import model_file, training
from lycosa.output.topic_report import Report, measure
from lycosa.pages import check_readable, read_page, read_pages
from lycosa.parse import Parsers
from lycosa.recalling import without_held_out
from lycosa.types import BadInput, Link, Page, Reply, Verdict

AnyPage = Page | bytes | str | Path


class Topic:
    """What to look for: the `[topic]` section of a crawl.toml, without a crawl.

    ```python
    topic = lycosa.Topic("keywords", words=["telescope", "galaxy"])
    topic.judge("<title>Galaxies</title> <p>Seen through a telescope.").relevance
    ```

    Args:
        kind: `keywords`, `examples`, `taxonomy`, `ontology`, `sentence`, `tids`, or the kind of an installed plug-in.
        folder: The folder that paths in the options are relative to, and where `train` writes its model.
        options: The other keys of the section.
    """

    def __init__(self, kind: str, folder: Path | str = ".", **options: Any) -> None:
        text = document({"topic": {"kind": kind, **options}})
        source = config.Source(Path(folder) / "topic", text)
        self._topic = topics.make(config.Config(topic={"kind": kind, **options}), source)
        self._ready = False

    @classmethod
    def open(cls, path: Path | str) -> "Topic":
        """The topic of a crawl folder or of a .toml file, including what it learned during the crawl."""
        topic = cls.__new__(cls)
        topic._topic, topic._ready = topics.load(Path(path)), False
        return topic

    def __repr__(self) -> str:
        options = {name: value for name, value in self._topic.settings.topic.items() if name != "kind"}
        return f"Topic({', '.join([repr(self.kind), *(f'{name}={value!r}' for name, value in options.items())])})"

    @property
    def kind(self) -> str:
        return self._topic.kind

    def _prepared(self) -> topics.Topic:
        if not self._ready:
            topics.prepare(self._topic, read_pages)
            topics.recall(self._topic)
            self._ready = True
        return self._topic

    def judge(self, page: AnyPage) -> Verdict:
        """Is a page on topic, and why?

        Args:
            page: HTML as text or bytes, the path of an HTML or text file, or a `Page`.
        """
        return self.judge_all([page])[0]

    def judge_all(self, pages: Iterable[AnyPage]) -> list[Verdict]:
        """A verdict on each page; the order does not matter, because nothing is learned from one page for the next."""
        topic = self._prepared()
        return in_background(topics.judge_each(topics.with_labels(topic), [read(page) for page in pages]))

    def train(self) -> Path:
        """Train on the topic's labelled pages, write the model to its folder, and return its path."""
        topic = self._topic
        judge = topics.learner(topic, "does not learn from labelled pages: there is nothing to train")
        target = topic.folder / model_file.NAME
        found = training.make(judge, topic.folder, without_held_out(topic.folder, read_pages))
        try:
            found.save(target, judge.KIND)
        except OSError as error:
            raise BadInput(f"{target}: cannot be written: {error.strerror}") from None
        self._ready = False
        return target

    def test(self, on: Path | str = "", target: Sequence[str] = (), folds: int = 5, seed: int = 0) -> Report:
        """Precision, recall, F1 and AUC of the target and of each label, and the confusion matrix.

        Args:
            on: Labelled pages to test on: a folder with one sub-folder per label, or `WARC:LABELS`. Without it, a
                topic that is trained on examples is cross-validated on them.
            target: The labels that are on topic, if the topic itself does not say so.
            folds: The number of folds of the cross-validation.
            seed: Random seed of the split into folds.
        """
        tested = topics.with_target(self._topic, target)
        if tested is not self._topic:
            self._topic, self._ready = tested, False
        results = self._judged_on(str(on)) if on else self._cross_validated(folds, seed)
        if not results:
            raise BadInput(f"on {on}: no labelled pages found")
        return measure(results, topics.targets(self._topic, [label for label, _ in results], target))

    def _judged_on(self, on: str) -> list[tuple[str, Verdict]]:
        topic = self._prepared()
        return in_background(topics.judge_labelled(topic, topics.find_labelled(topic, on, read_pages)))

    def _cross_validated(self, folds: int, seed: int) -> list[tuple[str, Verdict]]:
        judge = topics.learner(self._topic, "does not learn from labelled pages: say which to test `on`")
        parts = training.cross_validate(judge, judge.corpus(self._topic.folder, read_pages), folds, seed)
        return [result for part in parts for result in part]


def read(page: AnyPage) -> Page:
    """The argument, converted to a page."""
    if isinstance(page, Page):
        return page
    if isinstance(page, Path):
        check_readable(page)
        return read_page(page)
    body = page.encode(errors="replace") if isinstance(page, str) else page
    kind = "text/html; charset=utf-8" if isinstance(page, str) else "text/html"
    return Parsers().parse(Reply(Link("http://page.invalid/"), "http://page.invalid/", 200, kind, body))
