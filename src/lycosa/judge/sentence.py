"""Is the page about what this sentence says? A judge that learns the meaning of words as it crawls.

It starts with the words of the sentence alone. As pages come in it learns how rare each word is and, from a few hundred
pages on, which words are used together: each time as a new version, which judges earlier pages again. If the user names
a sentence-embedding model, that judges the pages, and what is learned only serves to judge the texts of links.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from msgspec import msgpack
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judge.bags import Bag, Bags, Notes, Reader, packed_bag, unpacked_bag
from lycosa.judge.embedding import Embedder
from lycosa.judge.phrases import tokens
from lycosa.judge.understanding import (
    MEANING_HALF,
    Judged,
    Query,
    Understanding,
    phrases_of,
    probability,
    query_of,
    scale_of,
)
from lycosa.judge.vectors import Space
from lycosa.judge.vectors import learn as learn_space
from lycosa.lessons import SharesPages
from lycosa.text import words
from lycosa.types import Page, Verdict, Visit

STEPS = (10, 30, 100, 300, 600, 1_000, 2_000, 3_000, 5_000, 10_000)  # pages seen at which a new version is made
GROWTH = 2  # factor between steps after the last one
MEANING_FROM = 300  # pages: with fewer, co-occurrence is mostly chance
OFF_TOPIC = 0.2  # less relevant pages teach how rare words are; doubtful ones would make the topic's words common
_MODEL = "sentence model"
_MOST_SIGNS = 4_000  # of a page's text that a model sees: more than it can take

Understand = Callable[[int, Bags, NDArray[np.bool_]], Understanding]

_log = logging.getLogger(__name__)


@dataclass
class Sentence(SharesPages):
    """A page is on topic if it means what one of the sentences says. `words` are added to each of them: words and
    phrases used on the topic or, with a leading minus, off topic. `model`: the folder of a sentence-embedding model."""

    sentence: str | list[str]
    words: list[str] = field(default_factory=list)
    model: str = ""

    reader_: Reader = field(init=False, repr=False, default_factory=Reader)
    queries_: list[Query] = field(init=False, repr=False, default_factory=list)
    asked_: dict[str, str] = field(init=False, repr=False, default_factory=dict)  # terms as the user wrote them
    bags_: Bags = field(init=False, repr=False, default_factory=Bags)
    version_: Understanding = field(init=False, repr=False, default_factory=lambda: untaught())
    notes_: Notes | None = field(init=False, repr=False, default=None)
    at_once_: bool = field(init=False, repr=False, default=True)  # train within the turn, so that a crawl is repeatable
    since_: dict[str, Bag] = field(init=False, repr=False, default_factory=dict)  # pages that arrived during training
    training_: "Training | None" = field(init=False, repr=False, default=None)
    failed_at_: int = field(init=False, repr=False, default=0)  # pages seen when training failed
    revised_: Judged = field(init=False, repr=False, default_factory=list)
    embedded_: "Embedded | None" = field(init=False, repr=False, default=None)

    def prepare(self, folder: Path, read: Callable[[Path], Iterable[tuple[str, Page]]]) -> None:
        """Check the sentences, and load the model if there is one."""
        sentences = self._sentences()
        if not sentences:
            raise ConfigError("topic.sentence", "say in a sentence what to look for")
        for sentence in sentences:
            if not query_of(sentence):
                raise ConfigError("topic.sentence", f"{sentence!r} has no word that says what to look for")
        wanted, unwanted = _listed(self.words)
        phrases = [phrase for sentence in sentences for phrase in phrases_of(sentence)]
        self.reader_ = Reader([*phrases, *(entry for entry in (*wanted, *unwanted) if len(tokens(entry)) > 1)])
        self.queries_ = [query_of(sentence, wanted, unwanted) for sentence in sentences]
        self.bags_ = Bags()
        self.asked_ = self.reader_.spell(words(" ".join([*sentences, *wanted, *unwanted])))
        self.version_ = self._understand(1, self.bags_, np.zeros(0, bool))
        if self.model:
            if unwanted:
                raise ConfigError("topic.words", f"'-{unwanted[0]}': a model does not understand words with a minus")
            self.embedded_ = Embedded(Embedder(folder / self.model), [". ".join([one, *wanted]) for one in sentences])

    def connect(self, notes: Notes, at_once: bool = False) -> None:
        """Store the remembered pages and what was learned from them in a crawl's database. Unless `at_once`, train in a
        thread while the crawl continues."""
        self.notes_, self.at_once_ = notes, at_once
        self.bags_.connect(notes)

    async def judge(self, page: Page) -> Verdict:
        if self.embedded_:
            return await self.embedded_.judge(page, self.at_once_)
        return self.version_.verdict(self.reader_.read(page))

    def relevance_of(self, words: Sequence[str]) -> float:
        """Estimate from a few words, an anchor or the words around it, the relevance of the page behind the link."""
        return self.relevances_of([words])[0]

    def relevances_of(self, many: Sequence[Sequence[str]]) -> list[float]:
        return self.version_.relevances(many) if many else []

    def learn(self, visit: Visit) -> None:
        """Remember the page; at certain numbers of pages start training, and adopt the result once it is ready."""
        page = visit.page
        if visit.reply.error or not (page.words or page.title) or page.listed:
            return
        bag = self.reader_.read(page)
        if self.lessons_ is not None:
            self.lessons_.append(packed_bag(bag, self.reader_.spelling(page)))
        self._remember(visit.reply.link.url, bag, lambda: self.reader_.spelling(page))

    def _remember(self, url: str, bag: Bag, spell: Callable[[], dict[str, str]]) -> None:
        """`url` is empty for the pages of other shards, whose verdicts are not ours to revise."""
        self.bags_.add(url, bag, spell)
        if self.training_:
            self.since_[url] = bag
            if not self.training_.is_alive():
                self._adopt(self.training_)
        elif self.bags_.seen >= next_step(max(self.version_.seen, self.failed_at_)):
            self._train()

    def study(self, lesson: dict[str, Any]) -> None:
        """Remember pages of another shard."""
        for packed in lesson["pages"]:
            bag, spelled = unpacked_bag(*packed)
            self._remember("", bag, lambda spelled=spelled: spelled)  # type: ignore[misc]

    def revised(self) -> Judged:
        """Return the verdicts of a new version on the remembered pages, once."""
        found, self.revised_ = self.revised_, []
        return [] if self.embedded_ else found

    def describe(self, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return the sentences' own words, words of similar meaning, and words that no page has."""
        version = self.version_
        own = {self.asked_.get(term, term): weight for term, weight in version.weights().items()}
        seen = {word: weight for word, weight in own.items() if weight}
        sections = [
            (f"looked for: {version.name}", sorted(seen.items(), key=lambda item: -abs(item[1]))),
            ("also understood", version.nearest(top)),
            ("on no page so far", [(word, 0.0) for word, weight in own.items() if not weight and version.seen]),
        ]
        return [(heading, rows[:top]) for heading, rows in sections if rows]

    def save(self) -> dict[str, Any]:
        """Return a small state, since it is written with every commit; large data is in the notes."""
        return {"pages": self.bags_.seen, "version": self.version_.number}

    def load(self, state: dict[str, Any]) -> None:
        """Resume from the notes; without any, start from scratch."""
        if state == self.save():
            return
        self.bags_.load(state["pages"])
        if self.notes_ is not None and (packed := self.notes_.noted(_MODEL)):
            number, seen, scale, space = msgpack.decode(packed, type=tuple[int, int, float, bytes])
            self.version_ = Understanding(number, seen, Space.unpack(space), self.queries_, scale)

    def _understand(self, number: int, bags: Bags, off_topic: NDArray[np.bool_]) -> Understanding:
        """Train a version from the pages, some of which are known to be off topic."""
        asked = {term: self.asked_.get(term, term) for query in self.queries_ for term in query}
        space = learn_space(bags.rows(), bags.terms, bags.words, asked, off_topic, bags.seen >= MEANING_FROM)
        return Understanding(number, bags.seen, space, self.queries_)

    def _train(self) -> None:
        self.training_ = Training(self.version_, self.bags_, self._understand)
        if self.at_once_:
            self.training_.run()
            self._adopt(self.training_)
        else:
            self.training_.start()

    def _adopt(self, training: "Training") -> None:
        """Switch to the new version; pages that arrived during training are judged again too."""
        self.training_, since, self.since_ = None, self.since_, {}
        if training.version is None:
            self.failed_at_ = self.bags_.seen  # the error was logged; retried at the next step
            return
        version = self.version_ = training.version
        judged = dict(training.judged) | {url: version.verdict(bag) for url, bag in since.items()}
        judged.pop("", None)
        self.revised_ = [*judged.items()]
        if self.notes_ is not None:
            facts = version.number, version.seen, version.scale, version.space.pack()
            self.notes_.keep(_MODEL, msgpack.encode(facts))

    def _sentences(self) -> list[str]:
        return [self.sentence] if isinstance(self.sentence, str) else self.sentence


class Embedded:
    """The sentences as vectors of a model, and pages compared with them."""

    def __init__(self, embedder: Embedder, sentences: Sequence[str]) -> None:
        embedder.check()
        self._embedder, self._wanted = embedder, embedder.embed(sentences)
        self.name = f"model {embedder.name}"

    async def judge(self, page: Page, at_once: bool) -> Verdict:
        """Judge a page by its title and the beginning of its text."""
        text = f"{page.title}\n{page.text[:_MOST_SIGNS]}".strip()
        if not text:
            return Verdict(model=self.name)
        vector = self._embedder.embed([text])[0] if at_once else await self._embedder.embed_soon(text)
        similarity = float((self._wanted @ vector).max())
        relevance = probability(similarity / MEANING_HALF)
        return Verdict(relevance, relevance >= 0.5, why={"(similarity)": similarity}, model=self.name)


class Training(Thread):
    """Trains the next version on a snapshot of the remembered pages, and judges them again."""

    def __init__(self, before: Understanding, bags: Bags, understand: Understand) -> None:
        super().__init__(daemon=True)  # unfinished training is lost with the process and repeated by the next
        self.version: Understanding | None = None
        self.judged: Judged = []
        self._before, self._copy, self._understand = before, bags.copy(), understand

    def run(self) -> None:
        try:
            before, copy = self._before, self._copy
            found = [copy.bag(slot) for slot in range(len(copy))]
            off_topic = np.array([before.verdict(bag).relevance < OFF_TOPIC for bag in found])
            version = self._understand(before.number + 1, copy, off_topic)
            version.scale = scale_of([version.score(bag) for bag in found])
            self.judged = [(url, version.verdict(bag)) for url, bag in zip(copy.urls, found, strict=True)]
            self.version = version
        except (MemoryError, np.linalg.LinAlgError) as error:
            _log.error("could not learn from %s pages; the judge stays as it is", self._copy.seen, exc_info=error)


def untaught() -> Understanding:
    """Return the state of a judge before `prepare`."""
    return Understanding(1, 0, learn_space(Bags().rows(), [], [], {}, np.zeros(0, bool), meaning=False), [{}])


def next_step(seen: int) -> int:
    """Return the number of pages for the next version after the one trained on `seen` pages."""
    step = next((step for step in STEPS if step > seen), 0)
    return step or seen * GROWTH


def _listed(entries: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split entries into wanted words and phrases, and those with a leading minus."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for entry in entries:
        bare = entry.strip().strip("'\"")
        minus, bare = bare.startswith("-"), bare.lstrip("-").strip(" '\"")
        if not tokens(bare):
            raise ConfigError("topic.words", f"{entry!r} has no word to look for, only stop words or signs")
        (unwanted if minus else wanted).append(" ".join(words(bare)))
    for entry in wanted:
        if entry in unwanted:
            raise ConfigError("topic.words", f"{entry!r} is both looked for and ruled out")
    return wanted, unwanted
