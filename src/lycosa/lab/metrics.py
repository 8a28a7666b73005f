"""How well did a crawl do? Each measure is a function of the fetched pages, in fetch order.

Do not confuse two of them: the harvest *ratio* is the mean relevance, the harvest *rate* the share of relevant pages.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice
from math import inf

from msgspec import Struct

from lycosa import urls


def harvest_ratio(relevances: Iterable[float]) -> float:
    """The mean relevance of the fetched pages; 0 for none."""
    values = list(relevances)
    return sum(values) / len(values) if values else 0.0


def running_mean(relevances: Sequence[float]) -> list[float]:
    """The harvest ratio after each page."""
    return [total / count for count, total in enumerate(accumulate(relevances), 1)]


def harvest_rate(relevant: Sequence[bool], window: int = 0) -> float:
    """The share of relevant pages among all fetched, or among the last `window`; 0 for none."""
    counted = relevant[-window:] if window else relevant
    return sum(map(bool, counted)) / len(counted) if counted else 0.0


def harvest_curve(relevant: Sequence[bool], window: int = 0) -> list[float]:
    """The harvest rate after each page; until a window is full, over the pages so far."""
    totals = [0, *accumulate(map(int, relevant))]
    span = window or len(relevant)
    return [(totals[n] - totals[max(0, n - span)]) / min(n, span) for n in range(1, len(totals))]


def target_recall(fetched: Iterable[str], targets: AbstractSet[str]) -> float:
    """The share of the targets that were fetched; 0 if there are none."""
    return len(targets & set(fetched)) / len(targets) if targets else 0.0


def recall_curve(fetched: Iterable[str], targets: AbstractSet[str]) -> list[float]:
    """The target recall after each page."""
    curve: list[float] = []
    found: set[str] = set()
    for page in fetched:
        if page in targets:
            found.add(page)
        curve.append(len(found) / len(targets) if targets else 0.0)
    return curve


def area_under_recall(fetched: Sequence[str], reachable: AbstractSet[str], pages: int) -> float:
    """The mean of recall(n) over n = 1 .. `pages`, for the reachable targets: 1 if all were found at once.

    A crawl that ended early keeps its last recall for the remaining pages.
    """
    curve = recall_curve(fetched[:pages], reachable)
    missing = pages - len(curve)
    return (sum(curve) + missing * (curve[-1] if curve else 0.0)) / pages if pages else 0.0


class Effectiveness(Struct, frozen=True):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def effectiveness(found: int, crawled: int, total: float) -> Effectiveness:
    """`found` of the `crawled` pages were targets, of which there are `total`, possibly estimated."""
    return Effectiveness(
        precision=found / crawled if crawled else 0.0,
        recall=found / total if total else 0.0,
        f1=2 * found / (crawled + total) if crawled + total else 0.0,
    )


def estimated_total(population: int, sample: int, hits: int) -> float:
    """The estimated number of targets in a population, given `hits` in a `sample`."""
    return population * hits / sample


def improvement(improved: float, baseline: float) -> float:
    """Improved / baseline; infinite if the baseline is zero."""
    if baseline:
        return improved / baseline
    return inf if improved else 1.0


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """The share of pages that two crawls of the same length have in common; of the longer one if lengths differ."""
    first, second = set(one), set(other)
    longer = max(len(first), len(second))
    return len(first & second) / longer if longer else 0.0


def exclusive_harvest(relevances: Mapping[str, float], other: Collection[str]) -> float:
    """The harvest ratio of the pages that the other crawl did not fetch."""
    theirs = set(other)
    return harvest_ratio(relevance for page, relevance in relevances.items() if page not in theirs)


def robustness(one: Sequence[str], other: Sequence[str]) -> float:
    """Do crawls from disjoint seeds find the same pages? The overlap of the first n relevant pages of each.

    Both lists contain relevant pages only, in fetch order; n is the length of the shorter one.
    """
    n = min(len(one), len(other))
    return overlap(one[:n], other[:n])


def relevance_histogram(relevances: Iterable[float], bins: int = 10) -> list[int]:
    """The number of pages in each of `bins` equal parts of 0..1; the last one includes 1."""
    counts = [0] * bins
    for relevance in relevances:
        counts[min(int(relevance * bins), bins - 1)] += 1
    return counts


def relevance_distribution(relevances: Iterable[float], bins: int = 10) -> list[float]:
    """The same in percent of the pages."""
    counts = relevance_histogram(relevances, bins)
    total = sum(counts)
    return [100 * count / total if total else 0.0 for count in counts]


def link_distances(links: Callable[[str], Iterable[str]], seeds: Iterable[str]) -> dict[str, int]:
    """Clicks from the nearest seed to every page that can be reached, nearest first."""
    clicks = dict.fromkeys(seeds, 0)
    waiting = deque(clicks)
    while waiting:
        page = waiting.popleft()
        for target in links(page):
            if target not in clicks:
                clicks[target] = clicks[page] + 1
                waiting.append(target)
    return clicks


def distances_of_best(
    relevances: Mapping[str, float], distances: Mapping[str, int], count: int = 100
) -> list[int | None]:
    """The distance from the seeds of the most relevant pages, best first; None for a page that no link leads to."""
    best = sorted(relevances, key=lambda page: -relevances[page])
    return [distances.get(page) for page in islice(best, count)]


def pages_per_relevant_site(
    fetched: Sequence[str], relevant: Sequence[bool], site: Callable[[str], str] = urls.host
) -> float:
    """Pages fetched per site with a relevant page; infinite if there is none."""
    sites = {site(page) for page, counts in zip(fetched, relevant, strict=True) if counts}
    return len(fetched) / len(sites) if sites else inf
