"""What did `learned` think of a link, and what does it know by now? Read from crawl.db alone, also after the crawl."""

import msgspec

from lycosa.db import CrawlDb
from lycosa.strategy.evidence import PRIOR
from lycosa.strategy.learned import Learned
from lycosa.strategy.online import MOST, OTHER_VERSION
from lycosa.types import BadInput

IN_WORDS = {
    "parent": "relevance of the page it was found on",
    "context": "words around it",
    "own": "its own words, in anchor and address",
    "elsewhere": "where links with such words led to elsewhere",
    "siblings": "what other links of its page brought",
    "part": "what those with addresses of the same kind brought",
    "near": "what those near it on the page brought",
    "untested": "few of its siblings have failed yet",
    "place": "what addresses of this kind brought",
    "area": "what its part of the host brought",
    "host": "what its host brought",
    "class": "what links from pages of this class brought",
    "leads": "where pages of this class lead to",
    "words": "what links with such words brought",
    "cash": "importance by links",
    "depth": "clicks from a seed",
    "links": "pages it was found on",
    "distance": "clicks since the last page on topic",
    "twin": "what is probably the same page was fetched",
}
ITS_TURN = "its turn: one look around, while nothing told where to go"
_LEAST_TRIED = 3.0  # outcomes before a word or host is worth telling
_HEADINGS = {
    "word": "words",
    "host": "hosts",
    "area": "parts of hosts",
    "place": "kinds of address",
    "class": "classes of the page",
}


def explain(db: CrawlDb, url: str) -> dict[str, float]:
    """What each kind of evidence adds to the log-odds of a link, largest first; empty if nothing is known of it.

    Of a URL that was asked as it was then, of one that waits as it is now.
    """
    noted = db.noted(f"learned why {url}")
    if noted:
        parts = msgspec.json.decode(noted, type=list[float])
        if len(parts) != len(PRIOR):
            raise BadInput(OTHER_VERSION)
    else:
        strategy = resumed(db)
        link = strategy.waiting_.get(url)
        if link is None:
            return {}
        parts = strategy.parts(link)
    named = {IN_WORDS[name]: part for name, part in zip(PRIOR, parts, strict=True) if part}
    if db.noted(f"learned turn {url}"):
        named[ITS_TURN] = MOST - sum(parts)
    return _largest(named)


def learned(db: CrawlDb, top: int = 12) -> dict[str, dict[str, float]]:
    """How much each kind of evidence counts by now, and the words, hosts, ... that speak most for and against links."""
    strategy = resumed(db, links=False)
    rate = strategy.rate()
    groups: dict[str, dict[str, float]] = {kind: {} for kind in _HEADINGS}
    for key, tally in strategy.surplus_.tallies.items():
        kind, space, name = key.partition(" ")
        if tally.tried >= _LEAST_TRIED:
            groups[kind if space else "word"][name if space else key] = tally.surplus(rate)
    weights = dict(zip(PRIOR, strategy.weights_.values, strict=True))
    if not groups["class"]:  # the topic has none
        del weights["class"], weights["leads"], weights["elsewhere"]
    told = {"weight of evidence": _largest({IN_WORDS[name]: weight for name, weight in weights.items()})}
    return told | {_HEADINGS[kind]: _ends(found, top) for kind, found in groups.items() if found}


def _largest(weights: dict[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda pair: (-abs(pair[1]), pair[0])))


def _ends(weights: dict[str, float], top: int) -> dict[str, float]:
    """The best and the worst of them."""
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ordered if len(ordered) <= top else ordered[: top - top // 2] + ordered[-(top // 2) :])


def resumed(db: CrawlDb, links: bool = True) -> Learned:
    """The strategy as it was at the last commit; it can tell, but not judge."""
    strategy = Learned()
    strategy.connect(db, lambda url, depth: "")
    state = db.get("state:strategy")
    if state and db.get("strategy", "learned") == "learned":
        strategy.load_counts(msgspec.json.decode(state))
        if links:
            strategy.load_links()
    return strategy
