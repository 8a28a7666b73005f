"""Train a URL classifier from labelled URLs, with numpy alone."""

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.strategy.url_classes import UrlClasses, features
from lycosa.types import BadInput

Labels = Sequence[tuple[str, str]]  # URL and class
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def built_in() -> Labels:
    """Return invented university addresses with the five classes of the Publication Spider."""
    text = files("lycosa.strategy").joinpath("data/url_classes.tsv").read_text(encoding="utf-8")
    return parse_labels(text, "url_classes.tsv")


def read_labels(path: Path) -> Labels:
    """Read labelled URLs from a file with `url<TAB>class` on each line."""
    try:
        return parse_labels(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: cannot be read: not UTF-8 text") from None


def parse_labels(text: str, name: str) -> Labels:
    """Parse labelled URLs, skipping empty lines and lines that start with #."""
    labels = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        url, _, label = (part.strip() for part in line.partition("\t"))
        if not label or "://" not in url:
            raise BadInput(f"{name}, line {number}: write a URL, a tab and its class")
        labels.append((url, label))
    if len({label for _, label in labels}) < 2:
        raise BadInput(f"{name}: URLs of at least two classes are needed to learn from")
    return labels


def train(labels: Labels, strength: float = 0.5) -> UrlClasses:
    """Fit the weights; `strength` is that of the L2 penalty, which keeps rare features from deciding alone."""
    classes = sorted({label for _, label in labels})
    found = [features(url) for url, _ in labels]
    columns = {feature: number for number, feature in enumerate(sorted({name for row in found for name in row}))}
    flat = np.array([columns[feature] for row in found for feature in row], np.int64)
    sizes = np.array([len(row) for row in found], np.int64)
    truth = np.array([classes.index(label) for _, label in labels], np.int64)
    loss = _Loss(flat, sizes, truth, (len(columns), len(classes)), strength)
    weights, bias = loss.split(minimise(loss, np.zeros((len(columns) + 1) * len(classes))))
    rows = np.round(weights, 5).tolist()
    kept = {feature: tuple(rows[number]) for feature, number in columns.items() if any(rows[number])}
    return UrlClasses(classes, np.round(bias, 5).tolist(), kept)


class _Loss:
    """Softmax cross-entropy over sparse rows of counts, with its gradient."""

    def __init__(self, flat: Integers, sizes: Integers, truth: Integers, shape: tuple[int, int], strength: float):
        self.flat = flat  # columns of all rows, concatenated
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.row_of = np.repeat(np.arange(len(sizes)), sizes)
        self.truth = truth
        self.shape = shape
        self.strength = strength

    def split(self, point: Floats) -> tuple[Floats, Floats]:
        table = point.reshape(self.shape[0] + 1, self.shape[1])
        return table[:-1], table[-1]

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        weights, bias = self.split(point)
        sums = np.add.reduceat(weights[self.flat], self.starts, axis=0) + bias
        sums -= sums.max(axis=1, keepdims=True)
        logs = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        rows = np.arange(len(self.truth))
        error = np.exp(logs)
        error[rows, self.truth] -= 1
        slope = np.empty((self.shape[0] + 1, self.shape[1]))
        for number in range(self.shape[1]):
            slope[:-1, number] = np.bincount(self.flat, error[self.row_of, number], self.shape[0])
        slope[:-1] += self.strength * weights
        slope[-1] = error.sum(axis=0)
        value = -logs[rows, self.truth].sum() + self.strength / 2 * float((weights**2).sum())
        return float(value), slope.ravel()


def minimise(loss: Callable[[Floats], tuple[float, Floats]], point: Floats, most: int = 300) -> Floats:
    """Minimise a smooth, convex loss by L-BFGS with backtracking (step halving)."""
    value, slope = loss(point)
    steps: list[tuple[Floats, Floats]] = []
    for _ in range(most):
        if np.abs(slope).max() < 1e-4:
            break
        direction = _downhill(slope, steps)
        along = _dot(direction, slope)
        size = 1.0 if steps else 1.0 / max(1.0, float(np.abs(slope).sum()))
        while True:
            ahead, rise = loss(point + size * direction)
            if ahead <= value + 1e-4 * size * along or size < 1e-12:
                break
            size /= 2
        step, change = size * direction, rise - slope
        if value - ahead < 1e-6 * max(1.0, abs(value)):
            return point + step if ahead < value else point
        if _dot(step, change) > 1e-12:
            steps = [*steps[-9:], (step, change)]
        point, value, slope = point + step, ahead, rise
    return point


def _downhill(slope: Floats, steps: list[tuple[Floats, Floats]]) -> Floats:
    """Return the descent direction: the negative gradient times the inverse Hessian, approximated from the last steps
    (two-loop recursion)."""
    direction = -slope
    shares = []
    for step, change in reversed(steps):
        shares.append(_dot(step, direction) / _dot(step, change))
        direction = direction - shares[-1] * change
    if steps:
        step, change = steps[-1]
        direction = direction * (_dot(step, change) / _dot(change, change))
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        direction = direction + (share - _dot(change, direction) / _dot(step, change)) * step
    return direction


def _dot(left: Floats, right: Floats) -> float:
    """Dot product without numpy's `dot`, which on a busy machine waits for threads started for microseconds of work."""
    return float((left * right).sum())


def cross_validate(labels: Labels, folds: int = 5) -> Iterator[tuple[str, str, str]]:
    """Yield URL, class and predicted class of every URL, each predicted by a model that was not trained on it."""
    spread = sorted(range(len(labels)), key=lambda number: (labels[number][1], number))  # stratified by class
    for fold in range(folds):
        held = set(spread[fold::folds])
        rest = [pair for number, pair in enumerate(labels) if number not in held]
        if held and len({label for _, label in rest}) > 1:
            model = train(rest)
            yield from ((*labels[number], model.class_of(labels[number][0])) for number in sorted(held))
