"""What an experiment needs to know about a web: the pages a directory lists, the training pages, and true labels.

Training pages for a generated web come from its twin, made from the same vocabulary with another random seed; for a
recorded one from other recordings, or else from half of its own labelled pages. So training and test data are separate.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from lycosa import urls
from lycosa.judge.corpus import Corpus
from lycosa.judge.training import Learner
from lycosa.lab.answer import Pages
from lycosa.lab.generated import GeneratedWeb, Links, Text
from lycosa.lab.layout import Layout, Place
from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels
from lycosa.lab.vocabulary import topic_names
from lycosa.lab.webs import GeneratedPages
from lycosa.parse import Parsers
from lycosa.types import BadInput, Link, Page, Reply

OTHER = "other"  # the label of unlabelled pages; never a target by default
LEAST_PAGES = 20  # minimum number of pages of a default target
TOPICS = 20
HOSTS = 60  # per topic
PAGES = 50  # per host
# Harder than the generated web is by default: there 96 of 100 pages of a plain focused crawl are on topic.
SPARSE = Links(count=(10, 20), locality=0.4, anchor_quality=0.25)
_KEPT = 8_192  # pages of a few kilobytes each: as many as the crawls of one topic fetch
_TWIN = 1_000_003  # difference between the random seeds of a web and of its twin


class Request(Struct, frozen=True):
    """The user's options, as plain data, so that every process can open the web itself."""

    seed: int = 0  # random seed of generated webs and all sampling
    pages: int = 0  # per crawl; 0: the experiment's default
    web: str = ""  # a recorded web; empty: generated ones
    labels: str = ""
    train: tuple[tuple[str, str], ...] = ()  # recorded webs and their labels, for training
    target: tuple[str, ...] = ()  # labels; empty: all that have enough pages
    seeds: tuple[str, ...] = ()  # where the one-seed experiment starts
    topic_map: str = ""  # for the ontology experiment on a recorded web
    focus: tuple[str, ...] = ()
    field: bool = False  # with the politeness, workers and response times of a real crawl


class Testbed(Protocol):
    """A web and the true labels of its pages. Crawlers under test see nothing but `web`."""

    web: Pages
    classes: Sequence[str]

    def truth(self, page: str) -> str: ...  # the class of a page, by name
    def targets(self) -> list[str]: ...  # possible targets
    def listed(self, label: str) -> list[str]: ...  # pages of a class that a directory lists
    def examples(self, label: str, count: int) -> list[tuple[str, Page]]: ...  # training pages of a class
    def beyond(
        self, page: Page, most: int
    ) -> Iterable[tuple[str, Page]]: ...  # some of the pages that an example links to


class Remembered(GeneratedPages):
    """A generated web that is crawled repeatedly: generated pages are cached for the next crawl."""

    def __init__(self, site: GeneratedWeb) -> None:
        super().__init__(site)
        self.get = lru_cache(maxsize=_KEPT)(super().get)  # type: ignore[method-assign]


class Generated:
    """A generated web; its directory lists the home pages of a topic's hosts."""

    def __init__(self, site: GeneratedWeb) -> None:
        self.site = site
        self.web: Pages = Remembered(site)
        self.classes: Sequence[str] = site.text.topics
        self._school = GeneratedPages(replace(site, seed=site.seed + _TWIN))
        self._read = Reader(self._school)

    def truth(self, page: str) -> str:
        return self.site.topic_of(page)

    def targets(self) -> list[str]:
        return list(self.classes)

    def listed(self, label: str) -> list[str]:
        return [urls.canonical(url) for url in self.site.seeds(80, self.site.hosts, label)]

    def examples(self, label: str, count: int) -> list[tuple[str, Page]]:
        """Pages of the twin, sampled across its hosts."""
        twin = self._school.site
        layout = Layout(twin.pages, twin.hosts, twin.seed, twin.ip_hosts, twin.text, twin.links, twin.oddities)
        topic, random = self.classes.index(label), Random(f"examples {twin.seed} {label}")
        found: dict[str, Page] = {}
        for _ in range(20 * count):  # a small web may not have that many
            host = random.randrange(topic, twin.hosts, len(self.classes))
            place = Place(host, random.randrange(layout.ranks(host)))
            url = layout.url(place, "")
            if layout.topic(place) == topic and url not in found and (page := self._read(url)):
                found[url] = page
            if len(found) == count:
                break
        return list(found.items())

    def beyond(self, page: Page, most: int) -> Iterable[tuple[str, Page]]:
        return self._read.links_of(page, most)


class Recording:
    """A recorded web with labels; its directory lists all pages of a label."""

    def __init__(self, request: Request) -> None:
        if not request.labels:
            raise BadInput(f"--labels: a file of url<TAB>label lines is required for {request.web}")
        web = RecordedWeb(Path(request.web)).open()
        self.web: Pages = web
        self._seed = request.seed
        self._wanted = request.target
        found = page_labels(web, read_labels(Path(request.labels)))
        if not found:
            raise BadInput(f"{request.labels}: none of its URLs is a page of {request.web}")
        self.labels = {page: found.get(page, OTHER) for page in web.pages()}
        self.classes: Sequence[str] = sorted(set(self.labels.values()))
        self.lessons = self._lessons(request)
        school = self._school if request.train else web
        self._read = Reader(school)

    def _lessons(self, request: Request) -> dict[str, list[str]]:
        """Training pages by label: all pages of the other recordings, or half of each label's own."""
        if request.train:
            self._school = RecordedWeb(*(Path(web) for web, _ in request.train)).open()
            known: dict[str, str] = {}
            for _, labels in request.train:
                known |= read_labels(Path(labels))
            taught = page_labels(self._school, known)
        else:
            taught = {}
            for label in self.classes:
                own = [page for page in self.labels if self.labels[page] == label]
                drawn = Random(f"lessons {self._seed} {label}").sample(own, len(own) // 2)
                taught |= dict.fromkeys(drawn, label)
        found: dict[str, list[str]] = {}
        for page, label in taught.items():
            found.setdefault(label, []).append(page)
        return found

    def truth(self, page: str) -> str:
        return self.labels.get(page, "")

    def targets(self) -> list[str]:
        for label in self._wanted:
            if label not in self.classes:
                raise BadInput(f"--target: no page has the label {label!r} (there are: {', '.join(self.classes)})")
        return list(self._wanted) or [
            label for label in self.classes if label != OTHER and len(self.listed(label)) >= LEAST_PAGES
        ]

    def listed(self, label: str) -> list[str]:
        taught = set(self.lessons.get(label, ()))
        return [page for page, found in self.labels.items() if found == label and page not in taught]

    def examples(self, label: str, count: int) -> list[tuple[str, Page]]:
        chosen = list(self.lessons.get(label, ()))
        Random(f"examples {self._seed} {label}").shuffle(chosen)
        pages = ((url, self._read(url)) for url in chosen)
        return [(url, page) for url, page in pages if page][:count]

    def beyond(self, page: Page, most: int) -> Iterable[tuple[str, Page]]:
        return self._read.links_of(page, most)


class Reader:
    """Reads training pages; never used on a web that is crawled in a measurement."""

    def __init__(self, web: Pages) -> None:
        self.web = web
        self._parser = Parsers()

    def __call__(self, url: str) -> Page | None:
        address = self.web.resolve(url)
        answer = self.web.get(address) if address and self.web.page(address) else None
        if answer is None or answer.status != 200:
            return None
        kind = {name.lower(): value for name, value in answer.headers}.get("content-type", "text/html")
        try:
            return self._parser.parse(
                Reply(Link(address), url=address, status=200, content_type=kind, body=answer.body)
            )
        except ValueError:
            return None  # skip pages that cannot be parsed

    def links_of(self, page: Page, most: int) -> Iterator[tuple[str, Page]]:
        """Names and pages behind a random sample of links: those to the same site often come first on a page."""
        drawn = Random(f"links {page.url}").sample(list(page.links), len(page.links))
        inside = ((name, link.url) for link in drawn if (name := self.web.page(link.url)))
        return islice(((name, found) for name, url in inside if (found := self(url))), most)


def site(seed: int, links: Links = SPARSE) -> GeneratedWeb:
    """The generated web shared by experiments; with small pages, because most bytes of a page are not used."""
    text = Text(topics=topic_names(TOPICS), size_bytes=(2_500, 6_000))
    return GeneratedWeb(pages=TOPICS * HOSTS * PAGES, hosts=TOPICS * HOSTS, seed=seed, text=text, links=links)


def told() -> str:
    """The same in words."""
    return f"""generated webs of {TOPICS * HOSTS * PAGES:,} pages on {TOPICS * HOSTS:,} hosts and {TOPICS} topics,
        where {SPARSE.locality:.0%} of the links stay in the topic and {SPARSE.anchor_quality:.0%} of the anchors
        name the topic of what they lead to"""


def chosen(request: Request, ground: Testbed, count: int) -> list[str]:
    """The targets: as the user says or the labels allow; on a generated web a random sample of topics."""
    known = ground.targets()
    if not known:
        raise BadInput(f"--target: no label of {request.labels} has {LEAST_PAGES} pages that are not used for training")
    return known if request.web else sorted(Random(f"targets {request.seed}").sample(known, count))


def drawn(ground: Testbed, label: str, seed: int) -> list[str]:
    """The listed pages, in random order."""
    listed = ground.listed(label)
    return Random(f"listed {seed} {label}").sample(listed, len(listed))


@lru_cache(maxsize=2)
def open_testbed(request: Request, site: GeneratedWeb) -> Testbed:
    """The web the user named, or the generated one."""
    return Recording(request) if request.web else Generated(site)


def teach(judge: Learner, lessons: Iterable[tuple[str, str, Page]]) -> None:
    """Train a judge on given pages: name, label and page."""
    corpus = Corpus(judge.fields)  # type: ignore[attr-defined]
    for name, label, page in lessons:
        corpus.add(name, label, page)
    if len(set(corpus.labels)) < 2:
        raise BadInput("examples of at least two labels are needed to learn from")
    judge.use(judge.fit(corpus, np.arange(len(corpus))))
