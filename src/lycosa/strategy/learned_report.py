"""What `learned` has learned so far, read from crawl.db alone, during or after the crawl."""

import msgspec

from lycosa.store.db import CrawlDb
from lycosa.strategy.learned import Learned
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.reasons import IN_WORDS

_LEAST_TRIED = 3.0  # outcomes before a word or host is reported
_HEADINGS = {
    "word": "words",
    "host": "hosts",
    "area": "parts of hosts",
    "place": "kinds of address",
    "class": "classes of the page",
}


def learned(db: CrawlDb, top: int = 12) -> dict[str, dict[str, float]]:
    """Return the weight of each kind of evidence, and the words, hosts, ... that count most for and against links."""
    strategy = _resumed(db)
    rate = strategy.rate()
    groups: dict[str, dict[str, float]] = {kind: {} for kind in _HEADINGS}
    for number, tally in strategy.surplus_.tallies.items():
        key = strategy.memory_.names.all[number]
        kind, space, name = key.partition(" ")
        if tally.tried >= _LEAST_TRIED:
            groups[kind if space else "word"][name if space else key] = tally.surplus(rate)
    weights = dict(zip(PRIOR, strategy.weights_.values, strict=True))
    if not groups["class"]:  # the topic has no classes
        del weights["class"], weights["leads"], weights["elsewhere"], weights["value"]
    told = {"weight of evidence": _largest({IN_WORDS[name]: weight for name, weight in weights.items()})}
    return told | {_HEADINGS[kind]: _ends(found, top) for kind, found in groups.items() if found}


def _largest(weights: dict[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda pair: (-abs(pair[1]), pair[0])))


def _ends(weights: dict[str, float], top: int) -> dict[str, float]:
    """Return the highest and the lowest weights."""
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ordered if len(ordered) <= top else ordered[: top - top // 2] + ordered[-(top // 2) :])


def _resumed(db: CrawlDb) -> Learned:
    """Restore the strategy as of the last commit, without the queued links."""
    strategy = Learned()
    strategy.read(db)
    state = db.get("state:strategy")
    if state and db.get("strategy", "learned") == "learned":
        strategy.load_counts(msgspec.json.decode(state))
    return strategy
