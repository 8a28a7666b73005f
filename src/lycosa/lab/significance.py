"""Is one crawler significantly better than another? The paired one-tailed t-test over tasks, and standard errors."""

from collections.abc import Sequence
from math import copysign, exp, inf, isinf, lgamma, log, log1p, sqrt

from msgspec import Struct

_TINY = 1e-300
_ENOUGH = 1e-15
_MOST_STEPS = 10_000


class Comparison(Struct, frozen=True):
    """The result of the paired test of "the first is better"."""

    difference: float  # the mean of first minus second
    error: float  # its standard error
    t: float
    freedom: int
    p: float  # the probability of a difference this large if the first is not better

    def is_significant(self, level: float = 0.05) -> bool:
        return self.p < level


def mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("the mean of no values is undefined")
    return sum(values) / len(values)


def standard_error(values: Sequence[float]) -> float:
    """The standard error of the mean: s / sqrt(n), s with n - 1 in the denominator."""
    n = len(values)
    if n < 2:
        raise ValueError("a standard error needs at least two values")
    middle = mean(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / (n - 1) / n)


def half_width(error: float, freedom: int, confidence: float = 0.95) -> float:
    """Half the width of the confidence interval of the mean, from its standard error."""
    return error * t_critical((1 - confidence) / 2, freedom)


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """One-tailed: is the first better? Both have one value per task, in the same order."""
    differences = [one - other for one, other in zip(first, second, strict=True)]
    difference, error, freedom = mean(differences), standard_error(differences), len(differences) - 1
    if error <= _ENOUGH * max(map(abs, differences)):  # the same difference everywhere: no variance
        t = copysign(inf, difference) if difference else 0.0
    else:
        t = difference / error
    return Comparison(difference, error, t, freedom, t_survival(t, freedom))


def t_survival(t: float, freedom: float) -> float:
    """The probability that Student's t is larger."""
    if isinf(t):
        return 0.0 if t > 0 else 1.0
    square = t * t
    tail = 0.5 * _beta(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square))
    return tail if t >= 0 else 1.0 - tail


def t_critical(p: float, freedom: float) -> float:
    """The value that Student's t exceeds with probability `p`, which is between 0 and 1."""
    if not 0 < p < 1:
        raise ValueError(f"a probability must be between 0 and 1, not {p}")
    if p > 0.5:
        return -t_critical(1 - p, freedom)
    low, high = 0.0, 1.0
    while t_survival(high, freedom) > p:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_survival(middle, freedom) > p else (low, middle)
    return low


def _beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x = 1 - rest, from the side where its fraction converges fast."""
    if x <= 0.0 or rest <= 0.0:
        return float(x > 0.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta(b, a, rest, x)
    log_x, log_rest = (log(x), log1p(-x)) if x < rest else (log1p(-rest), log(rest))
    scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_rest) / a
    return scale * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Forward evaluation (Lentz), two terms per step."""
    c, d = 1.0, _inverse(1.0 - (a + b) * x / (a + 1.0))
    result = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = result
        for term in (even, odd):
            d, c = _inverse(1.0 + term * d), 1.0 + term / (c or _TINY)
            result *= c * d
        if abs(result - before) <= _ENOUGH * abs(result):
            break
    return result


def _inverse(value: float) -> float:
    return 1.0 / (value or _TINY)
