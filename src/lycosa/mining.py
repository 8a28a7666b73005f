"""Learns rules between the classes of a topic from its examples: which classes do the pages of a class link to?

The examples are pages of known classes. The pages they link to are looked up in WARCs or fetched, classified, and
counted by the class of the linking page; the link words that lead to each class are learned. A crawl whose examples are
WARCs learns this before its first visit.
"""

import asyncio
import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from lycosa.judge.corpus import ReadPages, as_list, labelled_pages, sources
from lycosa.judge.training import Learner
from lycosa.loops import blocking
from lycosa.parse import Parsers
from lycosa.store.shard_views import warc_files
from lycosa.store.warc_reader import read_responses
from lycosa.strategy import rule_base
from lycosa.strategy.link_training import Linked, ordering, sample, train
from lycosa.strategy.link_value import values
from lycosa.strategy.link_words import all_words
from lycosa.strategy.rule_base import RuleBase, count
from lycosa.types import BadInput, Page, Reply
from lycosa.urls import Base, canonical, hostname, registered_domain

MOST_PAGES = 2_000  # number of pages fetched by default
WAVE = 100  # number of pages fetched together
_MOST_HOPS = 10
_MOST_BELIEFS = 2_000  # examples used to fit the temperature: it is a single number
_TEMPERATURES = np.geomspace(0.1, 100, 121)
_TINY = 1e-300
_log = logging.getLogger(__name__)


class Example(NamedTuple):
    """A page of a known class."""

    label: str
    links: list[str]  # the URLs it links to
    words: list[list[str]]  # the words of each link: its anchor, its context, the title
    address: str = ""


@dataclass
class Mine:
    """The results so far."""

    judge: Any  # a judge that was trained on labelled pages
    folder: Path  # base of its relative paths
    examples: list[Example] = field(default_factory=list)
    beliefs: dict[int, Mapping[str, float]] = field(default_factory=dict)  # the judge's class probabilities of a sample
    moved: dict[str, str] = field(default_factory=dict)  # redirects
    classes: dict[str, str] = field(default_factory=dict)  # of the linked pages, by address, as classified by the judge
    known: dict[str, str] = field(default_factory=dict)  # of the examples

    @property
    def labels(self) -> list[str]:
        found: list[str] = self.judge.classifier_.labels
        return found

    async def read_examples(self, read: ReadPages) -> None:
        """Read the pages of known classes, each with its links."""
        chance = random.Random(0)
        for source in sources(self.folder, self.judge.examples, self.judge.labels):
            for name, label, page in labelled_pages(source, read, nested=self.judge.KIND == "taxonomy"):
                label = self.judge.class_of(label, self.labels)
                links = [link for link in page.links if link.url != canonical(name)]
                if label in self.labels and (address := canonical(name)):
                    self.known[address] = label
                if label not in self.labels or not links:
                    continue
                self.examples.append(
                    Example(label, [link.url for link in links], all_words(page, links), canonical(name))
                )
                if chance.randrange(len(self.examples)) < _MOST_BELIEFS:  # every example is equally likely to be kept
                    if len(self.beliefs) >= _MOST_BELIEFS:
                        del self.beliefs[chance.choice(list(self.beliefs))]
                    self.beliefs[len(self.examples) - 1] = (await self.judge.judge(page)).classes
        if not self.examples:
            raise BadInput("topic.examples: none of the pages has a link (in files on disk only absolute ones count)")

    def warcs(self) -> list[Path]:
        """The WARCs that contain the examples: many linked pages are recorded in them, too."""
        return [
            source.pages for source in sources(self.folder, self.judge.examples, self.judge.labels) if source.labels
        ]

    async def read_warc(self, path: Path, read: ReadPages) -> None:
        """Classify those pages of a WARC that an example links to."""
        self.moved.update(redirects(path))
        wanted = {self._address(url) for example in self.examples for url in example.links}
        for url, page in read(path):
            if (address := canonical(url)) in wanted:
                await self._classify(address, page)

    async def read_crawl(self, folder: Path, read: ReadPages) -> None:
        """Learn from the pages of an earlier crawl too: their classes are those that the judge gives them."""
        warcs = [path for path in warc_files(folder) if path.name.endswith(".warc.gz")]
        if not warcs:
            raise BadInput(f"{folder}: no crawl with recorded pages (there is no WARC in {folder / 'warc'})")
        for warc in warcs:
            self.moved.update(redirects(warc))
            for url, page in read(warc):
                address = canonical(url)
                if address in self.known or address in self.classes:
                    continue
                await self._classify(address, page)
                links = [link for link in page.links if link.url != address]
                if (label := self.classes.get(address)) and links:
                    self.examples.append(Example(label, [link.url for link in links], all_words(page, links), address))

    async def read_reply(self, reply: Reply) -> None:
        """Classify a fetched page; a page that could not be fetched is ignored."""
        page = _parsed(reply)
        if page.url and reply.url:
            self.moved.update({reply.link.url: reply.url} if reply.url != reply.link.url else {})
            await self._classify(reply.url, page)

    def missing(self, most: int) -> list[str]:
        """At most `most` pages that are still to be classified: a random sample, stratified by the class of the
        examples."""
        chance = random.Random(0)  # the same examples give the same sample
        groups: dict[str, dict[str, None]] = {}
        for example in self.examples:
            unknown = [url for url in example.links if self._address(url) not in self.classes]
            groups.setdefault(example.label, {}).update(dict.fromkeys(unknown))
        drawn = [chance.sample(list(urls), len(urls)) for _, urls in sorted(groups.items())]
        in_turn = chain.from_iterable(zip_longest(*drawn))
        return list(dict.fromkeys(url for url in in_turn if url))[:most]

    def rules(self) -> RuleBase:
        """Count, and learn from the words. A page counts once per class, however many addresses lead to it."""
        rules = count(self.labels, self._links(range(len(self.examples))), self._temperature())
        links, worth = train(*self._linked())
        return replace(rules, links=links, values=worth)

    def ordering(self) -> dict[str, float]:
        """How well the value of links is predicted on sites that were left out of training, by class."""
        return ordering(*self._linked())

    def _linked(self) -> tuple[list[Linked], list[dict[str, float]]]:
        """The linked pages of known classes, and what they are worth."""
        classes = self.classes | self.known  # a label is better than a prediction
        said: dict[str, list[list[str]]] = {}
        graph: dict[str, list[str]] = {}
        for example in self.examples:
            for address, words in zip(map(self._address, example.links), example.words, strict=True):
                if address in classes:
                    said.setdefault(address, []).append(words)
                    graph.setdefault(example.address, []).append(address)
        pages = sample(
            Linked(classes[address], registered_domain(hostname(address)), links, address)
            for address, links in said.items()
        )
        return pages, [*values([page.address for page in pages], graph, classes)]

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
        if verdict.label:  # a page without a known word cannot be classified
            self.classes[address] = verdict.label

    def _address(self, url: str) -> str:
        for _ in range(_MOST_HOPS):
            if url not in self.moved:
                break
            url = self.moved[url]
        return url


@blocking
def from_recordings(judge: Any, folder: Path, read: ReadPages) -> RuleBase:
    """Learn from the WARCs of the examples alone."""

    async def learn() -> RuleBase:
        found = Mine(judge, folder)
        await found.read_examples(read)
        for warc in found.warcs():
            await found.read_warc(warc, read)
        return found.rules()

    return asyncio.run(learn())


def prepare(judge: Any, folder: Path, read: ReadPages) -> RuleBase | None:
    """Write rules.json to a crawl folder if the examples of the topic are WARCs with links; return what was written.

    A file made here is made again when the examples change. One from `lycosa topic rules` is left alone.
    """
    if not isinstance(judge, Learner) or not all((folder / name).exists() for name in as_list(judge.examples)):
        return None  # nothing was learned from examples, or they are gone and only the model is left
    found = sources(folder, judge.examples, judge.labels)
    path, made_from = folder / rule_base.NAME, judge.classifier_.facts.source
    if not any(source.labels for source in found):
        return None
    if path.exists() and rule_base.load(path).made_from in ("", made_from):
        return None
    try:
        rules = replace(from_recordings(judge, folder, read), made_from=made_from)
    except BadInput as error:
        _log.info("nothing is learned about links: %s", error)
        return None
    if not rules.counts:
        return None
    rule_base.save(rules, path)
    _log.info("%s: learned from the examples where links lead", path)
    return rules


def redirects(path: Path) -> Iterator[tuple[str, str]]:
    """Source and target of every redirect recorded in a WARC."""
    for answer in read_responses(path):
        if 300 <= answer.status < 400 and (url := canonical(answer.url)):
            target = Base(url).join(answer.headers.get("location", ""))
            if target and target != url:
                yield url, target


def waves(found: Sequence[str]) -> Iterator[list[str]]:
    """Batches to fetch one after the other. Each site is in a single batch, so that its delays are respected."""
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
    """The temperature at which P(class | page) best predicts the classes that the page's links lead to.

    Soft focus uses that probability as the score of a link. But a judge is more confident in the class of a page than
    its links are likely to lead to that class, so the probabilities are softened to fit the counts.
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
    except ValueError:  # a page that cannot be parsed is ignored
        return Page()
