"""Learn from a few labels how to correct the verdicts of a judge: a logistic regression on top of it.

The log odds of a page are those given by the judge plus what its words and the form of its address add. The prior
trusts the judge, so that a handful of labels moves only similar pages, and soft targets keep a few wrong labels from
doing harm. Stems are hashed into 4,096 places.

The form of an address is how deep it is and how it ends. Home pages, lists and articles differ in it, and few labels
are enough to learn that: on WebKB's home pages of students it raised average precision from 0.57 to 0.82.

With fewer labels than places, the regression is fitted in the space of the labels (as a Gaussian process with a linear
kernel): a hundred labels take a few milliseconds.
"""

from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.judge.hashed_words import PLACES as PLACES
from lycosa.judge.hashed_words import Places as Places
from lycosa.judge.hashed_words import places_of
from lycosa.text import words
from lycosa.types import Page, Verdict

MOST_LABELS = 1_000  # learned from: the latest
MOST_ODDS = 4.0  # log odds are clipped to this
SURE = 0.95  # how far a label is trusted
WORDS, FORM, SLOPE, SHIFT = 30.0, 5.0, 0.5, 1.0  # prior variances: all words, address, judge's weight, constant
GIVEN_SHIFT = 10.0  # and of a constant of their own for the judge's training pages
DEPTHS, ENDS = 8, 56  # forms of an address: folders, and hashes of its ending
SIZE = PLACES + DEPTHS + ENDS

_MOST_STEPS, _SMALL = 100, 1e-9
_SIZES = [0.5**power for power in range(12)]

Numbers = NDArray[np.float64]


def places(page: Page) -> Places:
    """Return the places of the words of a page and its title."""
    return places_of(page.words, words(page.title)[:20])


def form(url: str) -> tuple[int, int]:
    """Return the form of an address, as two numbers after those of the words."""
    path = url.split("?", 1)[0].split("#", 1)[0].split("/", 3)[-1] if url.count("/") > 2 else ""
    last = path.rsplit("/", 1)[-1]
    end = last.rsplit(".", 1)[-1][:8] if last else "/"
    return PLACES + min(path.count("/"), DEPTHS - 1), PLACES + DEPTHS + crc32(
        end.lower().encode(errors="replace")
    ) % ENDS


def boundary(least_on: float, most_off: float) -> float:
    """Return the relevance that separates pages on topic from the others: one half if that fits what was seen."""
    if most_off >= least_on:  # the judge decides by more than a threshold
        return least_on
    return 0.5 if most_off < 0.5 <= least_on else (least_on + most_off) / 2


def margin(relevance: float, on_topic: bool, threshold: float) -> float:
    """Return how far the judge is from the opposite verdict, in log odds: positive for a page on topic whatever its
    relevance, since some judges decide by more than a threshold."""
    far = abs(_log_odds(relevance) - _log_odds(threshold))
    return far if on_topic else -far


def _log_odds(relevance: float) -> float:
    if not 0 < relevance < 1:
        return MOST_ODDS if relevance else -MOST_ODDS
    return max(-MOST_ODDS, min(MOST_ODDS, log(relevance / (1 - relevance))))


class Correction(NamedTuple):
    """What was learned."""

    boundary: float  # the judge's own threshold
    shift: float
    slope: float  # of the judge's margin, in excess of 1
    rarity: NDArray[np.float32]  # of each place; common words carry no information
    worth: NDArray[np.float32]  # what a place adds to the log odds of a page of length 1; then, what a form adds

    def of(self, url: str, verdict: Verdict, found: Places) -> tuple[float, bool]:
        """Return the relevance of a page, and whether it is on topic."""
        weights = self.rarity[found]
        told = float(weights @ self.worth[found]) / (float(weights @ weights) ** 0.5 or 1.0)
        before = margin(verdict.relevance, verdict.on_topic, self.boundary)
        depth, end = form(url)
        added = self.shift + self.slope * before + told + float(self.worth[depth] + self.worth[end])
        return 1 / (1 + exp(-_log_odds(verdict.relevance) - added)), before + added >= 0


def rarities(counts: NDArray[np.int64], pages: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each place, from the number of pages with a word in it."""
    return np.log((pages + 1) / (np.minimum(counts, pages) + 1)).astype(np.float32)


def fit(
    urls: Sequence[str],
    verdicts: Sequence[Verdict],
    pages: Sequence[Places],
    labels: Sequence[bool],
    rarity: NDArray[np.float32],
    threshold: float = 0.5,
    given: int = 0,
) -> Correction:
    """Fit the most probable correction by Newton's method. The first `given` pages are the judge's
    training pages: their URLs are unknown, and how many of them are on topic says nothing about the crawl."""
    margins = np.array([margin(verdict.relevance, verdict.on_topic, threshold) for verdict in verdicts])
    rows = np.zeros((len(pages), SIZE), np.float32)
    for row, url, found in zip(rows, urls, pages, strict=True):
        weights = rarity[found]
        row[found] = weights / (float(weights @ weights) ** 0.5 or 1.0)
        if url:
            row[[*form(url)]] = 0.5**0.5
    variance = np.repeat(np.array([WORDS, FORM], np.float32), [PLACES, DEPTHS + ENDS])
    kernel = ((rows * variance) @ rows.T).astype(np.float64) + SHIFT + SLOPE * np.outer(margins, margins)
    kernel[:given, :given] += GIVEN_SHIFT
    pull = _maximum(kernel, margins, np.where(labels, SURE, 1 - SURE))
    worth = (variance * (rows.T @ pull)).astype(np.float32)
    worth[PLACES:] *= 0.5**0.5
    return Correction(threshold, float(SHIFT * pull.sum()), float(SLOPE * (margins @ pull)), rarity, worth)


def _maximum(kernel: Numbers, prior: Numbers, targets: Numbers) -> Numbers:
    """Return the pull of each label on the log odds, by Newton's method with damped steps."""

    def loss(pull: Numbers) -> float:
        moved = kernel @ pull
        return float((np.logaddexp(0, prior + moved) - targets * (prior + moved)).sum() + pull @ moved / 2)

    pull, now = np.zeros(len(prior)), loss(np.zeros(len(prior)))
    for _ in range(_MOST_STEPS):
        odds = prior + kernel @ pull
        chance = 1 / (1 + np.exp(-odds))
        root = np.sqrt(chance * (1 - chance))
        goal = root**2 * (odds - prior) + targets - chance
        inside = np.eye(len(prior)) + root[:, None] * kernel * root
        step = goal - root * np.linalg.solve(inside, root * (kernel @ goal)) - pull
        before = now
        for size in _SIZES:
            if (now := loss(pull + size * step)) < before:
                pull = pull + size * step
                break
        else:
            break
        if before - now < _SMALL:
            break
    return pull
