"""The pages a judge was trained on, as the correction by labels sees them: so that both are learned from together.

What a judge says about its own training pages flatters it. So each of them is judged by a classifier that was trained
without it.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.corpus import Corpus, ReadPages
from lycosa.judge.hashed_words import Places, hashed
from lycosa.judge.sparse import folds
from lycosa.judge.training import Learner, judge_held
from lycosa.types import BadInput, Verdict

MOST_GIVEN = 500  # pages; of more, a sample is held out once
FOLDS = 5

_log = logging.getLogger(__name__)


class GivenPage(NamedTuple):
    """A training page."""

    verdict: Verdict  # of a classifier that does not know the page
    places: Places
    on_topic: bool


def given_pages(judge: Learner, folder: Path, read: ReadPages) -> list[GivenPage]:
    """Read the training pages again, and judge each of them as if it were new."""
    corpus = judge.corpus(folder, read)
    _, classes = np.unique(np.array(corpus.labels), return_inverse=True)
    number = max(FOLDS, -(-len(corpus) // MOST_GIVEN))
    splits = [*folds(classes, number, seed=0)][: 1 if len(corpus) > MOST_GIVEN else FOLDS]
    known = sorted(set(corpus.labels))
    targets, words = set(judge.targets(known)), _places(corpus)
    rows, found = corpus.rows(), []
    for page, verdict in (one for chosen, held in splits for one in judge_held(judge, corpus, chosen, held)):
        places = words[rows.columns[rows.starts[page] : rows.starts[page + 1]]]
        found.append(
            GivenPage(verdict, np.unique(places[places >= 0]).astype(np.uint16), corpus.labels[page] in targets)
        )
    return found


def _places(corpus: Corpus) -> NDArray[np.int32]:
    """Return the place of each term; -1 for the terms of a field, which have a prefix."""
    return np.array([-1 if ":" in term else hashed(term) for term in corpus.terms], np.int32)


class Reading(Thread):
    """Reads the training pages; there are none if that fails."""

    def __init__(self, read: Callable[[], list[GivenPage]]) -> None:
        super().__init__(daemon=True)  # if it is cut short, the next process reads them
        self.pages: list[GivenPage] = []
        self.is_done = False
        self._read = read

    def run(self) -> None:
        try:
            self.pages = self._read()
        except (BadInput, OSError, MemoryError, ValueError) as error:
            _log.warning("labels are learned from without the training pages, which cannot be read: %s", error)
        self.is_done = True
