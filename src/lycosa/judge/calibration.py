"""How probable is it that a page with this score is on topic? Learned from the pages seen, without labels.

A score says how much of the topic's vocabulary a page has, but which score is enough is not known in advance. The other
words of the pages tell (see `company.py`): if pages with a medium score read like those with a high one, a medium score
is enough. Two views of a page, its score and its company, and a latent class yield, by expectation-maximisation,

    log odds of on topic = shift + slope * log odds of the score + weight * (company - middle)

It starts from, and is regularised towards, the prior belief that the score is the probability. Only the latest pages
are remembered, so the calibration before counts as a second prior, which stands for those that are forgotten.
"""

from math import exp, log

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

PRIOR_PAGES = 60.0  # weight of the prior, in pages, and at most that of the calibration before
PRIOR_PAIRS = 10  # with this many strong and weak pages, their company gets half its weight
FITTING_DOUBT = 0.02  # when fitting, scores stay this far from 0 and 1, so that a few do not bend the line
LEAST_DOUBT = 1e-6  # keeps scores away from 0 and 1
MOST_COMPANY = 1.0  # log odds: the other words can correct the score, not overrule it
SLOPES = 0.3, 3.0
THRESHOLDS = 0.15, 0.75  # bounds on the score that maps to a probability of one half
LEAST_SPREAD = 0.05  # minimum variance of the company in a class, so that a few similar pages do not look certain
STEPS = 20
_GRID = np.linspace(-3.0, 3.0, 7)  # log odds of the scores at which the prior is evaluated


class Calibration(Struct, frozen=True):
    """Maps score and company to a probability; by default, the score is the probability."""

    shift: float = 0.0
    slope: float = 1.0
    weight: float = 0.0
    middle: float = 0.0

    def probability(self, score: float, company: float | None = None) -> float:
        """Return the probability of a page; 0 if its score is 0. An unknown company is ignored."""
        if score <= 0 or self.is_prior:
            return max(0.0, score)
        sure = min(max(score, LEAST_DOUBT), 1 - LEAST_DOUBT)
        odds = self.shift + self.slope * log(sure / (1 - sure))
        if company is not None:
            odds += min(max(self.weight * (company - self.middle), -MOST_COMPANY), MOST_COMPANY)
        return 1 / (1 + exp(-odds))

    def probabilities(self, scores: Numbers, companies: Numbers) -> Numbers:
        """Return the probabilities of many pages; NaN stands for an unknown company."""
        if self.is_prior:
            return scores
        odds = self.shift + self.slope * _log_odds(scores, LEAST_DOUBT) + self._correction(companies)
        found: Numbers = np.where(scores > 0, _sigmoid(odds), 0.0)
        return found

    def _correction(self, companies: Numbers) -> Numbers:
        found = np.clip(self.weight * (companies - self.middle), -MOST_COMPANY, MOST_COMPANY)
        return np.nan_to_num(found)

    @property
    def is_prior(self) -> bool:
        """Return whether nothing has been learned yet."""
        return not self.weight


def fit(
    scores: Numbers, companies: Numbers, strong: float, weak: float, before: Calibration | None = None, earlier: int = 0
) -> Calibration:
    """Fit the calibration to these pages. `companies` is NaN for pages with an unknown company.

    Pages that score at least `strong`, or at most `weak`, serve as examples of the two classes. `before` was fitted
    to pages of which `earlier` are not among these.
    """
    weight, middle = _separation(companies[scores >= strong], companies[scores <= weak])
    if not weight:
        return Calibration()
    told = scores > 0
    company = Calibration(weight=weight, middle=middle)._correction(companies[told])
    before = before or Calibration()
    weights = np.full(2 * len(_GRID), PRIOR_PAGES / len(_GRID))
    weights[len(_GRID) :] = min(PRIOR_PAGES, 0 if before.is_prior else earlier) / len(_GRID)
    believed = np.concatenate([_sigmoid(_GRID), _sigmoid(before.shift + before.slope * _GRID)])
    shift, slope = _maximised(_log_odds(scores[told], FITTING_DOUBT), company, believed, weights)
    bounds = _log_odds(np.array(THRESHOLDS), LEAST_DOUBT)
    return Calibration(-slope * float(np.clip(-shift / slope, *bounds)), slope, weight, middle)


def _separation(strong: Numbers, weak: Numbers) -> tuple[float, float]:
    """Return, by linear discriminant analysis, the log odds per unit of company and the neutral point."""
    strong, weak = strong[~np.isnan(strong)], weak[~np.isnan(weak)]
    pairs = min(len(strong), len(weak))
    if not pairs:
        return 0.0, 0.0
    spread = (strong.var() * len(strong) + weak.var() * len(weak)) / (len(strong) + len(weak)) + LEAST_SPREAD
    apart = float((strong.mean() - weak.mean()) / spread)
    return max(0.0, apart) * pairs / (pairs + PRIOR_PAIRS), float(strong.mean() + weak.mean()) / 2


def _maximised(odds: Numbers, company: Numbers, believed: Numbers, weights: Numbers) -> tuple[float, float]:
    """Return shift and slope by EM, with one Newton step of logistic regression per iteration. `believed` are both
    priors at the points of the grid, `weights` how many pages each point counts for."""
    shift, slope = 0.0, 1.0
    x = np.concatenate([odds, _GRID, _GRID])
    pages = np.concatenate([np.ones(len(odds)), weights])
    for _ in range(STEPS):
        now = _sigmoid(shift + slope * x)
        expected = np.concatenate([_sigmoid(shift + slope * odds + company), believed])
        error, bend = pages * (expected - now), pages * now * (1 - now)
        a, b, c = bend.sum(), (bend * x).sum(), (bend * x * x).sum()
        up, along = error.sum(), (error * x).sum()
        determinant = a * c - b * b
        shift += float((c * up - b * along) / determinant)
        slope += float((a * along - b * up) / determinant)
        slope = min(max(slope, SLOPES[0]), SLOPES[1])
    return shift, slope


def _log_odds(scores: Numbers, doubt: float) -> Numbers:
    sure = np.clip(scores, doubt, 1 - doubt)
    found: Numbers = np.log(sure / (1 - sure))
    return found


def _sigmoid(odds: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-odds))
    return found
