"""What is in a web, and how much of it can be reached? This reads all pages: for evaluation, not for crawling."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from lycosa import urls
from lycosa.lab.answer import Graph
from lycosa.lab.metrics import link_distances
from lycosa.lab.recorded import RecordedWeb, is_page, page_labels, start_urls
from lycosa.parse import Parsers
from lycosa.types import Link, Reply


class Info(Struct, frozen=True):
    """A recorded web in numbers."""

    addresses: int  # recorded URLs, redirects and failures included
    pages: int  # HTML pages, each counted once however many URLs it has
    hosts: int  # hosts that serve pages
    links: int  # links between pages inside the recording
    reachable: int  # pages that can be reached from the seeds
    labels: dict[str, int]  # pages with each label
    reachable_labels: dict[str, int]


class LinkGraph:
    """The links between recorded pages. Each page is parsed once, when it is first needed."""

    def __init__(self, web: RecordedWeb) -> None:
        self.web = web
        self._parser = Parsers()
        self._links: dict[str, list[str]] = {}

    def links(self, url: str) -> list[str]:
        """The URLs of the pages it links to, redirects resolved, each once."""
        found = self._links.get(url)
        if found is None:
            found = self._links[url] = self._read(url)
        return found

    def _read(self, url: str) -> list[str]:
        web, entry, answer = self.web, self.web.entry(url), self.web.get(url)
        if entry is None or answer is None or not is_page(entry):
            return []
        headers = dict(answer.headers)
        reply = Reply(
            Link(url),
            url=url,
            status=answer.status,
            content_type=headers.get("content-type", ""),
            body=answer.body,
            robots_tag=headers.get("x-robots-tag", ""),
        )
        try:
            page = self._parser.parse(reply)
        except ValueError:
            return []  # a page that cannot be parsed has no links
        targets = dict.fromkeys(web.resolve(link.url) for link in page.links)
        return [target for target in targets if target != url and web.page(target)]


def reach(graph: Graph, seeds: Iterable[str]) -> dict[str, int]:
    """Every page that can be reached from the seeds, by name, and its distance in clicks."""
    web = graph.web
    starts = [start for start in (web.resolve(seed) for seed in start_urls(seeds)) if web.page(start)]
    found: dict[str, int] = {}
    for address, clicks in link_distances(graph.links, starts).items():
        found.setdefault(web.page(address), clicks)  # the nearest URL comes first
    return found


def info(web: RecordedWeb, seeds: Sequence[str] = (), labels: Mapping[str, str] | None = None) -> Info:
    """Count pages, hosts, links and labels, and how many can be reached from the seeds."""
    return count(LinkGraph(web), seeds, page_labels(web, labels or {}))


def count(graph: Graph, seeds: Sequence[str], named: Mapping[str, str]) -> Info:
    """The same for any web whose links are known; `named` are labels by page."""
    web, pages = graph.web, graph.web.pages()
    reached = reach(graph, seeds)
    return Info(
        addresses=len(web),
        pages=len(pages),
        hosts=len({urls.host(page) for page in pages}),
        links=sum(len(graph.links(page)) for page in pages),
        reachable=len(reached),
        labels=_count(named.values()),
        reachable_labels=_count(label for page, label in named.items() if page in reached),
    )


def _count(labels: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(labels).items()))
