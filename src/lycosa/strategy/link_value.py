"""What a page is worth to a crawl that looks for a class: whether it is of that class, and how many such pages lie just
behind it.

    value of a page for a class = [it is of the class] + sum over such pages within CLICKS clicks of DISCOUNT ** steps

Steps are the pages to fetch until that page is reached, one after the other, nearest first. So a list of ten targets is
worth several targets, and a page from which one of them is three clicks away is worth less than one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

CLICKS = 3
DISCOUNT = 0.9  # chosen on texas: lists stand out more than with 0.7, where a single link is worth a third of any list
STEPS = 16  # that are looked ahead; what comes later hardly counts
MOST_REACHED = 2_000  # pages looked at from one page

Graph = Mapping[str, Sequence[str]]  # from each page to the pages it links to


def values(pages: Iterable[str], graph: Graph, classes: Mapping[str, str]) -> Iterator[dict[str, float]]:
    """The value of each page for every class; a class that is not near has none."""
    for page in pages:
        before = _reached(page, graph)
        found: dict[str, list[str]] = {}
        for name in before:
            if label := classes.get(name):
                found.setdefault(label, []).append(name)
        yield {label: _value(page, near, before) for label, near in found.items()}


def _reached(page: str, graph: Graph) -> dict[str, str]:
    """The pages within reach, nearest first, each with the page before it on the way."""
    before = {page: ""}
    layer: Collection[str] = [page]
    for _ in range(CLICKS):
        nearer, layer = layer, []
        for name in nearer:
            for target in graph.get(name, ()):
                if target not in before:
                    before[target] = name
                    layer.append(target)
        if len(before) > MOST_REACHED:
            break
    return before


def _value(page: str, near: Iterable[str], before: Mapping[str, str]) -> float:
    fetched = {page}
    total, steps = 0.0, 0
    for name in near:
        while name not in fetched:
            fetched.add(name)
            steps += 1
            name = before[name]
        if steps > STEPS:
            break
        total += DISCOUNT**steps
    return total
