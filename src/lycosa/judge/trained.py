"""What all judges have in common that are trained on labelled pages, whatever they learn from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from lycosa.judge.classifier import Classifier, Focus, Section, untrained
from lycosa.judge.corpus import ReadPages, as_list
from lycosa.judge.given import GivenPage, given_pages
from lycosa.judge.training import Learner, load_or_train
from lycosa.types import Page, Verdict


@dataclass(kw_only=True)
class TrainedOnPages:
    """Judges with a classifier. A subclass says how to train one, and which of its classes are on topic (`Learner`)."""

    classifier_: Classifier = field(init=False, repr=False, default_factory=untrained)
    focus_: Focus = field(init=False, repr=False, default=Focus(np.zeros(0, bool), 0.5))
    source_: tuple[Path, ReadPages] | None = field(init=False, repr=False, default=None)  # where the pages are

    def prepare(self, folder: Path, read: ReadPages) -> None:
        found = load_or_train(self._learner, folder, read)
        self._learner.check(found.labels)
        self.use(found)
        self.set_source(folder, read)

    def set_source(self, folder: Path, read: ReadPages) -> None:
        """Say where the training pages are."""
        self.source_ = folder, read

    def use(self, found: Classifier) -> None:
        """Judge with this classifier."""
        self.classifier_, self.focus_ = found, self._learner.focus(found)

    async def judge(self, page: Page) -> Verdict:
        return self.classifier_.verdict(page, self.focus_)

    def relevance_of(self, words: Sequence[str]) -> float:
        return self.relevances_of([words])[0]

    def relevances_of(self, many: Sequence[Sequence[str]]) -> list[float]:
        return self.classifier_.text_relevances(many, self.focus_)

    def describe(self, top: int) -> list[Section]:
        return self.classifier_.describe(top)

    def given(self) -> list[GivenPage]:
        """Return the training pages; labels are learned from together with them. A shared model may have none."""
        judge, (folder, read) = self._learner, self.source_ or (Path(), None)
        has_pages = all((folder / name).exists() for name in as_list(judge.examples))
        return given_pages(judge, folder, read) if read and has_pages else []

    @property
    def _learner(self) -> Learner:
        return cast(Learner, self)
