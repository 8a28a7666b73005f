"""A strategy may give what waits another score after each visit; seeds, strangers and what is done keep theirs."""

from collections.abc import Callable, Sequence

from lycosa import config
from lycosa.build import make_frontier, make_revision
from lycosa.frontier.scope import Scope
from lycosa.lab.clock import LabClock
from lycosa.revision import Renewal
from lycosa.store.db import CrawlDb
from lycosa.types import SEED_SCORE, Link, Reply, Visit


class Renewing:
    """Gives each URL it was told a new score."""

    def __init__(self) -> None:
        self.new: dict[str, float] = {}
        self.connected: object = None

    def connect(self, db: CrawlDb, refuses: object, number: Callable[[str], int], waits: Callable[[int], bool]) -> None:
        self.connected, self.number, self.waits = db, number, waits

    def score(self, visit: Visit) -> Sequence[float]:
        return [0.5] * len(visit.page.links)

    def merge(self, waiting: float, found: float) -> float:
        return max(waiting, found)

    def learn(self, visit: Visit) -> None:
        """Nothing."""

    def renew(self) -> tuple[Sequence[int], Sequence[float], Sequence[str]]:
        hosts = [url.split("/")[2] for url in self.new]
        return [*map(self.number, self.new)], list(self.new.values()), hosts


async def test_scores_are_replaced_up_and_down() -> None:
    db, strategy = CrawlDb(":memory:").open(), Renewing()
    settings = config.Config(fetch=config.Fetch(delay_s=0.0, delay_factor=0.0))
    frontier = make_frontier(db, settings, Scope(settings.scope), strategy, LabClock())
    assert strategy.connected is db
    (sink,) = make_revision(strategy, frontier, at_once=True)
    assert isinstance(sink, Renewal)
    a, b, c, seed = (Link(f"http://{name}.example/") for name in "abcs")
    frontier.push([a, b, c], [0.3, 0.2, 0.1])
    frontier.push([seed], [SEED_SCORE])
    strategy.new = {a.url: 0.05, c.url: 0.9, seed.url: 0.0, "http://stranger.example/": 0.7}
    assert all(strategy.waits(strategy.number(link.url)) for link in (a, b, c, seed))
    sink.write(Visit(Reply(a)))
    assert [frontier.score(link) for link in (a, b, c, seed)] == [0.05, 0.2, 0.9, SEED_SCORE]
    order = []
    for _ in range(4):
        link = await frontier.pop()
        assert link
        assert not strategy.waits(strategy.number(link.url))  # it is in flight
        order.append(link.url)
        frontier.done(Reply(link))
    assert order == [seed.url, c.url, b.url, a.url]
    strategy.new = {a.url: 0.8}
    sink.write(Visit(Reply(a)))
    assert frontier.score(a) == 0.05
    assert frontier.waiting() == 0
