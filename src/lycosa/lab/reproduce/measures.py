"""Sample the curves of many crawls at the same points, so that they can be averaged."""

from collections.abc import Sequence

from lycosa.lab.significance import mean, standard_error

POINTS = 40


def marks(pages: int, points: int = POINTS) -> list[int]:
    """The page numbers at which curves are sampled: at most `points`, evenly spaced, including the last."""
    points = min(points, pages)
    return [round(pages * (place + 1) / points) for place in range(points)]


def sampled(curve: Sequence[float], pages: int) -> list[float]:
    """A curve sampled at the marks; a crawl that ended early keeps its last value."""
    return [curve[min(mark, len(curve)) - 1] if curve else 0.0 for mark in marks(pages)]


def averaged(curves: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """The mean of several sampled curves and its standard error; none for a single curve."""
    columns = list(zip(*curves, strict=True))
    errors = [standard_error(column) for column in columns] if len(curves) > 1 else []
    return [mean(column) for column in columns], errors


def text_of(values: Sequence[float], digits: int = 3) -> str:
    """A mean with its standard error, for a table."""
    if not values:
        return "-"
    middle = f"{mean(values):.{digits}f}"
    return f"{middle} ± {standard_error(values):.{digits}f}" if len(values) > 1 else middle
