"""Builds objects from a configuration: the only place where names are mapped to classes."""

import dataclasses
import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from lycosa import __version__, config, mining, plugins, urls
from lycosa.assembly import Assembly, make_frontier
from lycosa.crawl import Crawl
from lycosa.estimate.held_out import HeldOut, leaving_out
from lycosa.fetch.http import Http
from lycosa.fetch.network import Network
from lycosa.fetch.outage import Asks, Outage
from lycosa.fetch.redirects import Redirects
from lycosa.fetch.retries import Retries
from lycosa.fetch.robots import Robots
from lycosa.fetch.robots_file import sitemaps_of
from lycosa.fetch.shelf import Shelf
from lycosa.frontier.durable import DurableFrontier
from lycosa.frontier.limits import Quota
from lycosa.frontier.scope import Scope
from lycosa.judge import JUDGES
from lycosa.judge.corrected import Corrected
from lycosa.pages import read_pages
from lycosa.parse import HTML_TYPES, SITEMAP_TYPES, Guarded, HtmlParser, Parsers, content_digest
from lycosa.plugged import Layers, Outlets, PluggedEngine
from lycosa.plugins import Plugins
from lycosa.recalling import Estimate, make_estimate
from lycosa.seeds.engines import ENGINES, Engine, Search, make_engine, site_of
from lycosa.seeds.ledger import Ledger
from lycosa.seeds.search import SearchStep
from lycosa.store import orders
from lycosa.store.db import CrawlDb
from lycosa.store.secret import Digests
from lycosa.store.visits import Totals, VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.strategy import RULED, STRATEGIES
from lycosa.types import (
    Band,
    Clock,
    CrawlParser,
    Deferred,
    Fetcher,
    Judge,
    Link,
    Origin,
    Prepares,
    Reply,
    Sink,
    Strategy,
    Targets,
)


@dataclasses.dataclass
class Parts:
    """Everything the crawl in a folder is made of, including what must be opened, observed and closed."""

    folder: Path
    config: config.Config
    assembly: Assembly
    quota: Quota
    db: CrawlDb
    http: Http
    outage: Outage
    robots: Robots
    fetcher: Fetcher
    parser: CrawlParser
    store: VisitStore
    totals: Totals
    judge: Judge  # as described by the topic; the crawl uses it ...
    corrected: Corrected  # ... corrected by the user's labels
    strategy: Strategy
    ledger: Ledger | None  # of the search engine, for the search step
    search: SearchStep | None
    outlets: Outlets
    recall: Estimate

    @property
    def frontier(self) -> DurableFrontier:
        return self.assembly.frontier

    @property
    def sinks(self) -> list[Sink]:
        """The sinks of an ordinary crawl, in the order in which they receive a visit."""
        return [self.totals, self.store, self.recall, *([self.search] if self.search else []), self.outlets]

    def limit(self, quota: Quota) -> None:
        """Replace the limits, before anything is opened."""
        self.quota = quota

    def crawl(self, fetcher: Fetcher, sinks: Sequence[Sink]) -> Crawl:
        """The crawl, with this fetcher and these sinks."""
        digests, more = Digests(self.db, content_digest), self.search.more if self.search else None
        return self.assembly.crawl(self.corrected, fetcher, sinks, self.parser, digests, more)


def build(folder: Path, settings: config.Config, source: config.Source, clock: Clock) -> Parts:
    """All parts of the crawl in a folder, not yet assembled; nothing is opened or fetched yet."""
    if settings.fetch.proxy and not urls.canonical(settings.fetch.proxy).startswith("http://"):
        raise source.blame("fetch.proxy", f"{settings.fetch.proxy!r} is not http://host:port")
    with source.placing():
        scope = make_scope(settings)
        recall = make_estimate(folder, source.path.parent, settings, scope.refuses)
    judge = make_judge(settings, source, recall.held_out)
    strategy = make_strategy(settings, source, judge, recall.held_out)
    parser = Guarded(make_parsers(settings), folder)
    db = CrawlDb(folder / "crawl.db")
    at_once = settings.fetch.concurrency == 1  # which makes a crawl reproducible
    corrected = Corrected(judge)
    corrected.connect(db, at_once)
    totals = Totals(distinct=True)
    quota = Quota(settings.limits, totals, recall.reached)
    assembly = Assembly(db, settings, scope, strategy, clock, quota, at_once)
    frontier = assembly.frontier
    http = Http(_accepting(settings), clock.now)
    outage = Outage(make_layers(http, settings, source), Network(settings.fetch), clock, bool(settings.fetch.proxy))
    robots = make_robots(outage, db, settings, frontier, clock)
    fetcher = make_redirects(robots, db, settings, frontier)
    store = VisitStore(db, _warc(folder, settings.store), totals)
    targets = strategy if isinstance(strategy, Targets) else None
    ledger, search = make_search(settings, source, db, frontier, targets, clock)
    outlets = Outlets(*_named(plugins.SINK, "store.sinks", settings.store.sinks, source), frontier.stop)
    kept = store, totals, judge, corrected, strategy, ledger, search, outlets, recall
    return Parts(folder, settings, assembly, quota, db, http, outage, robots, fetcher, parser, *kept)


def judges() -> Plugins:
    """The kinds of topics: built-in ones, and those of installed packages."""
    return Plugins(plugins.JUDGE, JUDGES)


def strategies() -> Plugins:
    """The kinds of strategies: built-in ones, and those of installed packages."""
    return Plugins(plugins.STRATEGY, STRATEGIES)


def _named(kind: plugins.Kind, key: str, names: list[str], source: config.Source) -> tuple[Plugins, list[str]]:
    """The plug-ins named by a key of the configuration, all of which must be installed."""
    found = Plugins(kind)
    for name in names:
        if name not in found:
            known = ", ".join(sorted(found)) or "none is installed"
            raise source.blame(key, f"there is no {kind.word} {name!r} (there are: {known})")
    return found, names


def make(section: str, kinds: Mapping[str, type], options: Mapping[str, Any], source: config.Source) -> Any:
    """Create the object described by a section of the configuration: `kind` selects the class, the other keys are its
    arguments."""
    kind = str(options.get("kind", ""))
    if kind not in kinds:
        problem = f"there is no kind {kind!r}" if kind else "this key is needed"
        raise source.blame(f"{section}.kind", f"{problem} (there are: {', '.join(sorted(kinds))})")
    arguments = {name: value for name, value in options.items() if name != "kind"}
    known = [field.name for field in dataclasses.fields(kinds[kind]) if field.init]
    for name in arguments:
        if name not in known:
            raise source.blame(f"{section}.{name}", f"unknown key for {kind} (it knows: {', '.join(known) or 'none'})")
    try:
        return msgspec.convert(arguments, kinds[kind])
    except msgspec.ValidationError as error:
        raise source.blame(*config.explain(error, section, kinds[kind])) from None
    except TypeError as error:  # a field whose type no TOML value can have
        if isinstance(kinds, Plugins) and kind in kinds.theirs:
            raise kinds.error(kind, f"cannot be made from crawl.toml: {error}") from error
        raise


def make_judge(settings: config.Config, source: config.Source, held_out: HeldOut | None = None) -> Any:
    """The judge of the topic, ready to judge; it does not learn from held-out pages."""
    if not settings.topic:
        raise source.blame("topic", "this section is needed: say what to look for")
    kinds = judges()
    judge = make("topic", kinds, settings.topic, source)
    if isinstance(judge, Prepares):
        with source.placing(), kinds.blaming(str(settings.topic["kind"]), "prepare"):
            judge.prepare(source.path.parent, leaving_out(held_out or HeldOut(), read_pages))
    return judge


def make_strategy(settings: config.Config, source: config.Source, judge: Judge, held_out: HeldOut | None = None) -> Any:
    """The strategy; if it uses rules between classes, they are learned from the topic's examples."""
    kinds = strategies()
    strategy = make("strategy", kinds, settings.strategy, source)
    if settings.strategy["kind"] in RULED:
        mining.prepare(judge, source.path.parent, leaving_out(held_out or HeldOut(), read_pages))
    if isinstance(strategy, Prepares):
        with source.placing(), kinds.blaming(str(settings.strategy["kind"]), "prepare"):
            strategy.prepare(source.path.parent, judge)
    return strategy


def make_search(
    settings: config.Config,
    source: config.Source,
    db: CrawlDb,
    frontier: DurableFrontier,
    targets: Targets | None,
    clock: Clock,
) -> tuple[Ledger, SearchStep] | tuple[None, None]:
    """The search step and its engine, if one is configured."""
    try:
        rules = msgspec.convert(settings.search, Search)
    except msgspec.ValidationError as error:
        raise source.blame(*config.explain(error, "search")) from None
    if not rules.engine:
        return None, None
    with source.placing():
        engine = _plugged_engine(rules, source) or make_engine(
            rules, settings.fetch.user_agent, source.path.parent, read_pages
        )
        site = site_of(rules, settings.scope.domains, settings.scope.hosts)
    ledger = Ledger(engine, db, rules, clock, lambda: frontier.paused)
    return ledger, SearchStep(rules, ledger, frontier.bring, frontier.waiting, frontier.refuses, targets, site)


def _plugged_engine(rules: Search, source: config.Source) -> Engine | None:
    """An engine from another package, created from the [search] section; None for a built-in one."""
    if rules.engine in ENGINES:
        return None
    kinds = Plugins(plugins.ENGINE)
    if rules.engine not in kinds:
        known = ", ".join(sorted([*ENGINES, *kinds]))
        raise source.blame("search.engine", f"there is no search engine {rules.engine!r} (there are: {known})")
    return PluggedEngine(kinds, rules.engine, kinds.make(rules.engine, rules))


def make_parsers(settings: config.Config) -> Parsers:
    """Built-in parsers for HTML and sitemaps; those of installed packages for other content types."""
    robot = settings.fetch.user_agent.split("/", 1)[0].split(" ", 1)[0].lower()
    kinds = parser_kinds()
    return Parsers(HtmlParser(robot=robot), others={name: kinds.make(name) for name in kinds.theirs})


def parser_kinds() -> Plugins:
    """Parsers by content type, which is the name of the entry point."""
    return Plugins(plugins.PARSER, dict.fromkeys(HTML_TYPES, HtmlParser))


def make_scope(settings: config.Config, excluded: Sequence[orders.Exclusion] = ()) -> Scope:
    """What crawl.toml and the user's later exclusions allow.

    Suffixes that are skipped by default are fetched if an installed parser can read them.
    """
    rules = settings.scope
    if rules.skip_suffixes == config.NO_PAGES:
        read = {suffix.lstrip(".") for name in parser_kinds().theirs for suffix in mimetypes.guess_all_extensions(name)}
        rules = replace(rules, skip_suffixes=[suffix for suffix in rules.skip_suffixes if suffix not in read])
    scope = Scope(rules)
    for one in excluded:
        scope.exclude(one.compiled())
    return scope


def make_layers(http: Http, settings: config.Config, source: config.Source) -> Asks:
    """HTTP, wrapped in the layers of other packages if any are configured."""
    if not settings.fetch.layers:
        return http
    return Layers(http, *_named(plugins.FETCHER, "fetch.layers", settings.fetch.layers, source))


def make_robots(http: Asks, db: CrawlDb, settings: config.Config, frontier: DurableFrontier, clock: Clock) -> Robots:
    """To be read from the inside out: one request, retried, checked against robots.txt."""

    def offer(origin: str, sitemaps: Iterable[str]) -> None:
        if settings.scope.sitemaps:
            found = sitemaps_of(origin, sitemaps)
            frontier.push(found, [0.0] * len(found), Band.FIRST)

    return Robots(Retries(http, settings.fetch), db, settings.fetch, clock.now, offer, frontier.refuses)


def make_redirects(robots: Robots, db: CrawlDb, settings: config.Config, frontier: DurableFrontier) -> Redirects:
    """The same, redirected."""
    shelf = Shelf(db.path.parent if isinstance(db.path, Path) else None)
    return Redirects(robots, settings.fetch.max_redirects, frontier.refuses_hop, shelf)


def _warc(folder: Path, rules: config.Store) -> WarcWriter | None:
    return WarcWriter(folder / "warc", f"lycosa/{__version__}", rules.warc_max_bytes) if rules.warc else None


def _accepting(settings: config.Config) -> config.Fetch:
    extra = [*(SITEMAP_TYPES if settings.scope.sitemaps else ()), *parser_kinds().theirs]
    return replace(settings.fetch, content_types=[*settings.fetch.content_types, *extra])


async def fetch_pages(settings: config.Config, found: list[str], clock: Clock) -> list[Reply]:
    """Fetch a few URLs politely, as a crawl would, without storing anything."""
    replies: list[Reply] = []
    db = CrawlDb(":memory:").open()
    frontier = make_frontier(db, settings, Scope(config.Scope()), STRATEGIES["breadth-first"](), clock)
    http = Http(settings.fetch, clock.now)
    fetcher = make_redirects(make_robots(http, db, settings, frontier, clock), db, settings, frontier)
    await http.open()
    try:
        frontier.push([Link(url, origin=Origin.SEED) for url in found], [0.0] * len(found), Band.FIRST)
        while lease := await frontier.pop():
            reply = await fetcher.fetch(lease)
            if not isinstance(reply, Deferred):
                replies.append(reply)
            frontier.done(reply)
    finally:
        await http.close()
        db.close()
    return replies
