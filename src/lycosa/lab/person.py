"""A simulated person who labels pages while a crawl in the lab runs, by what the web's labels say."""

import random
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from lycosa import config
from lycosa.config import Positive, Whole
from lycosa.judge.asking import choose
from lycosa.judge.corrected import Corrected
from lycosa.store.db import CrawlDb
from lycosa.store.labels import Judged
from lycosa.types import BadInput, Verdict, Visit


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """How many questions are answered, how well, and about which pages."""

    answers: Positive = 5  # each time
    every: Positive = 50  # pages
    wrong: Annotated[float, Meta(ge=0, le=1)] = 0.0  # probability that an answer is wrong
    choose: Literal["mixed", "random"] = "mixed"  # as `lycosa label` does, or any page with equal probability
    seed: Whole = 0


def person_of(options: Mapping[str, Any], name: str) -> Person | None:
    """The person among the options of a strategy, if there is one."""
    if "person" not in options:
        return None
    try:
        return msgspec.convert(options["person"], Person)
    except msgspec.ValidationError as error:
        key, problem = config.explain(error, f"strategy.{name}.person")
        raise BadInput(f"{key}: {problem}") from None


class Asked(Corrected):
    """A corrected judge that asks a person about the pages fetched so far."""

    def __init__(self, judge: Any, person: Person, is_target: Callable[[str], bool]) -> None:
        """`is_target`: the truth about a page, by the URL where its redirects ended."""
        super().__init__(judge)
        self.connect(CrawlDb(":memory:").open())
        self.person = person
        self.seen: dict[str, Judged] = {}  # the distinct pages by the URL requested, with their latest verdicts
        self.truth: dict[str, bool] = {}  # of these
        self.labels: dict[str, bool] = {}
        self._is_target = is_target
        self._chance = random.Random(person.seed)

    def learn(self, visit: Visit) -> None:
        super().learn(visit)
        if not visit.is_distinct:
            return
        url, verdict = visit.reply.link.url, visit.verdict
        self.seen[url] = Judged(len(self.seen), url, verdict.relevance, verdict.on_topic, visit.page.simhash)
        self.truth[url] = self._is_target(visit.reply.url)
        if len(self.seen) % self.person.every == 0:
            self.ask()

    def revised(self) -> list[tuple[str, Verdict]]:
        found = super().revised()
        for url, verdict in found:
            self.seen[url] = self.seen[url]._replace(relevance=verdict.relevance, on_topic=verdict.on_topic)
        return found

    def ask(self) -> None:
        """Ask the next questions, and teach the judge all answers."""
        for url in self._questions():
            self.labels[url] = self.truth[url] != (self._chance.random() < self.person.wrong)
        self.teach(self.labels)

    def _questions(self) -> list[str]:
        if self.person.choose == "random":
            left = [url for url in self.seen if url not in self.labels]
            return self._chance.sample(left, min(self.person.answers, len(left)))
        seed = self._chance.randrange(1 << 30)
        return [one.page.url for one in choose([*self.seen.values()], self.labels, self.person.answers, seed)]
