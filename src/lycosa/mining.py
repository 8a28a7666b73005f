"""From the examples of a topic to rules between its classes: which classes do the pages of a class link to?

The examples are pages of known classes. What they link to is looked up in WARCs or fetched, classified, and counted by
the class of the page that links; which words of links lead to a class is learned.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from lycosa import build, config
from lycosa.judge.corpus import ReadPages, labelled_pages, sources
from lycosa.parse import Parsers
from lycosa.store.warc import read_responses
from lycosa.strategy.link_training import Linked, train
from lycosa.strategy.link_words import all_words
from lycosa.strategy.rule_base import RuleBase, count
from lycosa.types import BadInput, Clock, Page, Reply
from lycosa.urls import Base, canonical, hostname, registered_domain

MOST_PAGES = 2_000  # fetched, unless told otherwise
WAVE = 100  # pages fetched in one go
_MOST_HOPS = 10
_MOST_BELIEFS = 2_000  # examples that the temperature is fitted on: it is one number
_TEMPERATURES = np.geomspace(0.1, 100, 121)
_TINY = 1e-300


class Example(NamedTuple):
    """A page of a known class."""

    label: str
    links: list[str]  # where it links to
    words: list[list[str]]  # and with which words: of the link, near it, in the title


@dataclass
class Mine:
    """What has been found out so far."""

    judge: Any  # one that was trained on labelled pages
    folder: Path  # that its paths are relative to
    examples: list[Example] = field(default_factory=list)
    beliefs: dict[int, Mapping[str, float]] = field(default_factory=dict)  # of some: what the judge takes them for
    moved: dict[str, str] = field(default_factory=dict)  # redirects
    classes: dict[str, str] = field(default_factory=dict)  # of the pages linked to, by address, as the judge sees them
    known: dict[str, str] = field(default_factory=dict)  # of the examples themselves

    @property
    def labels(self) -> list[str]:
        found: list[str] = self.judge.classifier_.labels
        return found

    async def read_examples(self, read: ReadPages) -> None:
        """The pages of known classes, each with its links."""
        chance = random.Random(0)
        for source in sources(self.folder, self.judge.examples, self.judge.labels):
            for name, label, page in labelled_pages(source, read, nested=self.judge.KIND == "taxonomy"):
                label = self.judge.class_of(label, self.labels)
                links = [link for link in page.links if link.url != canonical(name)]
                if label in self.labels and (address := canonical(name)):
                    self.known[address] = label
                if label not in self.labels or not links:
                    continue
                self.examples.append(Example(label, [link.url for link in links], all_words(page, links)))
                if chance.randrange(len(self.examples)) < _MOST_BELIEFS:  # each example is as likely to stay
                    if len(self.beliefs) >= _MOST_BELIEFS:
                        del self.beliefs[chance.choice(list(self.beliefs))]
                    self.beliefs[len(self.examples) - 1] = (await self.judge.judge(page)).classes
        if not self.examples:
            raise BadInput("topic.examples: none of the pages has a link (in files on disk only absolute ones count)")

    def warcs(self) -> list[Path]:
        """Those that the examples are in: much of what a page links to is recorded with it."""
        return [
            source.pages for source in sources(self.folder, self.judge.examples, self.judge.labels) if source.labels
        ]

    async def read_warc(self, path: Path, read: ReadPages) -> None:
        """Classify the pages of a WARC that an example links to."""
        self.moved.update(redirects(path))
        wanted = {self._address(url) for example in self.examples for url in example.links}
        for url, page in read(path):
            if (address := canonical(url)) in wanted:
                await self._classify(address, page)

    async def fetch(
        self, settings: config.Config, found: Sequence[str], clock: Clock, watch: Callable[[int], None]
    ) -> None:
        """Fetch and classify pages, politely; one that cannot be had tells nothing. `watch` hears how many are done."""
        for wave in waves(found):
            for reply in await build.fetch_pages(settings, wave, clock):
                page = _parsed(reply)
                if page.url and reply.url:
                    self.moved.update({reply.link.url: reply.url} if reply.url != reply.link.url else {})
                    await self._classify(reply.url, page)
            watch(len(wave))

    def missing(self, most: int) -> list[str]:
        """Pages still to be looked at, so many at most: drawn by lot, but of each class of examples alike."""
        chance = random.Random(0)  # the same examples give the same lot
        groups: dict[str, dict[str, None]] = {}
        for example in self.examples:
            unknown = [url for url in example.links if self._address(url) not in self.classes]
            groups.setdefault(example.label, {}).update(dict.fromkeys(unknown))
        drawn = [chance.sample(list(urls), len(urls)) for _, urls in sorted(groups.items())]
        in_turn = chain.from_iterable(zip_longest(*drawn))
        return list(dict.fromkeys(url for url in in_turn if url))[:most]

    def rules(self) -> RuleBase:
        """Count, and learn from the words. A page counts once for each class, whatever addresses lead to it."""
        rules = count(self.labels, self._links(range(len(self.examples))), self._temperature())
        classes = self.classes | self.known  # a label is better than a guess
        said: dict[str, list[list[str]]] = {}
        for example in self.examples:
            for address, words in zip(map(self._address, example.links), example.words, strict=True):
                if address in classes:
                    said.setdefault(address, []).append(words)
        led = (Linked(classes[address], registered_domain(hostname(address)), links) for address, links in said.items())
        return replace(rules, links=train(led))

    def _links(self, numbers: Sequence[int]) -> Iterator[tuple[str, str, str]]:
        for example in map(self.examples.__getitem__, numbers):
            for address in map(self._address, example.links):
                if found := self.classes.get(address):
                    yield example.label, address, found

    def _temperature(self) -> float:
        known = {number: list(dict.fromkeys(self._links([number]))) for number in self.beliefs}
        return fit_temperature(
            [(self.beliefs[at], [link[2] for link in found]) for at, found in known.items() if found]
        )

    async def _classify(self, address: str, page: Page) -> None:
        verdict = await self.judge.judge(page)
        if verdict.label:  # without one known word there is no telling
            self.classes[address] = verdict.label

    def _address(self, url: str) -> str:
        for _ in range(_MOST_HOPS):
            if url not in self.moved:
                break
            url = self.moved[url]
        return url


def redirects(path: Path) -> Iterator[tuple[str, str]]:
    """From where to where, for every redirect that a WARC has recorded."""
    for answer in read_responses(path):
        if 300 <= answer.status < 400 and (url := canonical(answer.url)):
            target = Base(url).join(answer.headers.get("location", ""))
            if target and target != url:
                yield url, target


def waves(found: Sequence[str]) -> Iterator[list[str]]:
    """Parts to fetch one after the other. A site is in one part as a whole, so that its rests are kept."""
    sites: dict[str, list[str]] = {}
    for url in found:
        sites.setdefault(registered_domain(hostname(url)), []).append(url)
    wave: list[str] = []
    for urls in sites.values():
        wave += urls
        if len(wave) >= WAVE:
            yield wave
            wave = []
    if wave:
        yield wave


def fit_temperature(pages: Sequence[tuple[Mapping[str, float], Sequence[str]]]) -> float:
    """Under which temperature is P(class | page) the best guess at the classes that the page's links lead to?

    Soft focus takes that probability for the worth of a link. But a judge is surer of a page's class than the page's
    links are to lead to the same class, so the probabilities are cooled until they fit what was counted.
    """
    pages = [(belief, goals) for belief, goals in pages if belief and goals]
    if not pages:
        return 1.0
    names = {name: place for place, name in enumerate(pages[0][0])}
    logs = np.log(np.maximum([[belief[name] for name in names] for belief, _ in pages], _TINY))
    hits = np.zeros(logs.shape)
    for row, (_, goals) in enumerate(pages):
        np.add.at(hits[row], [names[goal] for goal in goals], 1)
    losses = []
    for temperature in _TEMPERATURES:
        cooled = logs / temperature
        losses.append(float((hits * (np.logaddexp.reduce(cooled, axis=1, keepdims=True) - cooled)).sum()))
    return round(float(_TEMPERATURES[np.argmin(losses)]), 4)


def _parsed(reply: Reply) -> Page:
    if reply.error:
        return Page()
    try:
        return Parsers().parse(reply)
    except ValueError:  # what cannot be read tells nothing
        return Page()
