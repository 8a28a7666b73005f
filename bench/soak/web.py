"""A small web made from a seed number: pages, redirects of every shape, slow, busy, dead and hostile hosts.

The soak and its server both build it from the same numbers, so the soak knows which pages a crawl has to bring back.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from urllib.parse import urlsplit

DELAY_S, DELAY_FACTOR, MAX_DELAY_S = 0.05, 1.0, 3.0  # what the crawl promises its hosts: see folder.py
LEAST_HOSTS = 24
RETRY_AFTER_S = 2  # longer than a restart takes: it must not be forgotten
CRAWL_DELAY_S, LONG_CRAWL_DELAY_S = 0.3, 2.0
MAX_REDIRECTS, LONGEST_CHAIN = 10, 7
WORDS = "spider wolf web hunt night forest silk garden river stone engine paper music winter harbour".split()

BROKEN = (  # replies that are never a page, and what is wrong with each is told in replies.py
    "missing error silent cut garbage huge-head endless bomb bad-gzip half-gzip reset empty image bad-chunk nowhere"
).split()
ODD = ("poison", "half-gzip")  # whether these bring a page is the crawler's choice


@dataclass(frozen=True, slots=True)
class Spot:
    """What one URL answers."""

    kind: str = "page"
    links: tuple[str, ...] = ()
    target: str = ""  # of a redirect
    fails: int = 0  # so many requests are turned away with a Retry-After first
    slow_s: float = 0.0
    same_as: str = ""  # the URL whose body this one repeats


@dataclass(slots=True)
class Site:
    """One host: where it lives and how it behaves."""

    host: str  # as it stands in URLs, with the port
    ip: str
    robots: str = "missing"  # missing, plain, moved, flaky, long, lost
    robots_at: str = ""  # where a moved robots.txt is
    crawl_delay_s: float = 0.0
    is_slow: bool = False
    goes_wild: bool = False  # when told to; only pages that lead nowhere new are here
    is_dead: bool = False

    def disallows(self, path: str) -> bool:
        return self.robots != "missing" and path.startswith("/private/")


@dataclass
class Web:
    """All hosts and URLs; `pages` says about how many pages there are. A `plain` web has nothing but pages, though
    some are slow or turn a request away at first."""

    seed: int
    port: int
    pages: int = 240
    plain: bool = False
    hosts: int = LEAST_HOSTS
    sites: list[Site] = field(default_factory=list)
    spots: dict[str, Spot] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        Builder(self, Random(f"web {self.seed}")).build()
        self.by_host = {site.host: site for site in self.sites}

    def site(self, url: str) -> Site:
        return self.by_host[urlsplit(url).netloc]

    def names(self) -> dict[str, str]:
        """Host name to address, for the crawler's stand-in for a name server."""
        return {site.host.partition(":")[0]: site.ip for site in self.sites}

    def expected(self) -> tuple[set[str], set[str]]:
        """The URLs a crawl must know at the end, and those of them that must be stored as pages."""
        known, good = set(self.seeds), set()
        waiting = deque(self.seeds)
        while waiting:
            url = waiting.popleft()
            site, spot = self.site(url), self.spots.get(url, Spot("missing"))
            if site.is_dead or site.robots == "lost" or site.disallows(urlsplit(url).path):
                continue
            if spot.kind == "page":
                good.add(url)
            found = [*spot.links, *([spot.target] if spot.target else [])]
            fresh = [link for link in dict.fromkeys(found) if link not in known]
            known.update(fresh)
            waiting.extend(fresh)
        return known, good


class Builder:
    """Fills a web; every choice comes from `chance`."""

    def __init__(self, web: Web, chance: Random) -> None:
        self.web = web
        self.chance = chance
        self.links: dict[str, list[str]] = {}  # of the pages, while they grow
        self.numbers = iter(range(1_000_000))

    def build(self) -> None:
        self._make_sites()
        self._make_pages()
        if not self.web.plain:
            self._make_redirects()
            self._make_leaves()
        for _ in range(3):
            self._link(self._page(self.patient))
        self._finish_pages()

    # -- hosts --------------------------------------------------------------------------------------------------------

    def _make_sites(self) -> None:
        for number in range(self.web.hosts):
            ip = f"127.0.7.{number + 1}"
            name = f"site{number:02}.test" if number % 2 else ip  # some need the name server, some do not
            self.web.sites.append(Site(f"{name}:{self.web.port}", ip))
        sites = self.web.sites
        for site, robots in zip(sites, cycle(["missing", "plain", "flaky", "long", "missing", "plain"]), strict=False):
            site.robots = robots
        for site in sites[18:20]:
            site.is_dead = True
        for site in sites[20:23]:
            site.goes_wild = True
        self.lost = sites[23]
        self.lost.robots, self.lost.robots_at = "lost", f"http://{sites[18].host}/robots.txt"
        self.patient = sites[17]
        self.patient.robots, self.patient.crawl_delay_s = "plain", LONG_CRAWL_DELAY_S
        self.ordinary = sites[:17] + sites[LEAST_HOSTS:]
        for site in self.ordinary[1:3]:
            site.robots, site.crawl_delay_s = "plain", CRAWL_DELAY_S
        for site in self.ordinary[3:5]:
            site.is_slow = True
        if self.web.plain:
            return
        for site, other in ((self.ordinary[5], self.ordinary[0]), (self.ordinary[6], self.ordinary[1])):
            site.robots, site.robots_at = "moved", f"http://{other.host}/robots-of-{site.ip}"

    def _url(self, folder: str, site: Site | None = None) -> str:
        return f"http://{(site or self.chance.choice(self.ordinary)).host}/{folder}/{next(self.numbers)}"

    # -- pages --------------------------------------------------------------------------------------------------------

    def _make_pages(self) -> None:
        self.tree: list[str] = []
        for number in range(self.web.pages * 3 // 4):
            site = self.ordinary[number % len(self.ordinary)] if number < 3 else None
            url = self._page(site)
            if number < 3:
                self.web.seeds.append(url)
            else:
                self.links[self._recent(30)].append(url)
            self.tree.append(url)
        for url in self.tree:
            self.links[url] += self.chance.sample(self.tree, 3)
        for _ in range(max(2, self.web.pages // 40)):  # the same body under another address
            first, copy = self.chance.choice(self.tree), self._url("copy")
            self.web.spots[copy] = Spot(same_as=first)
            self._link(copy)

    def _page(self, site: Site | None = None) -> str:
        url = self._url("page", site)
        fails = self.chance.choice((1, 1, 2)) if self.chance.random() < 0.04 else 0
        slow_s = self.chance.uniform(0.2, 0.6) if self.chance.random() < 0.02 else 0.0
        if slow_s and self.chance.random() < 0.3:
            slow_s = 2.2
        self.web.spots[url] = Spot(fails=fails, slow_s=slow_s)
        self.links[url] = []
        return url

    def _recent(self, most: int) -> str:
        return self.chance.choice(self.tree[-most:])

    def _link(self, url: str, most: int = 1) -> None:
        for _ in range(self.chance.randint(1, most)):
            self.links[self.chance.choice(self.tree)].append(url)

    # -- redirects ----------------------------------------------------------------------------------------------------

    def _make_redirects(self) -> None:
        """Chains over hosts, chains that meet, chains into URLs that wait, loops, and an endless one."""
        made: list[tuple[str, int]] = []  # redirects and how many hops lie behind each
        for _ in range(self.web.pages // 3):
            url, roll = self._url("moved"), self.chance.random()
            hops = 1
            near = [(other, far) for other, far in made[-12:] if far < LONGEST_CHAIN]
            if near and roll < 0.5:
                target, far = self.chance.choice(near)
                hops = far + 1
            elif roll < 0.85:
                target = self._page()  # there is no other way to this one
                child = self._page()
                self.links[target].append(child)
            else:
                target = self.chance.choice(self.tree)
            self.web.spots[url] = Spot("redirect", target=target)
            made.append((url, hops))
            if self.chance.random() < 0.8:
                self._link(url, 3)
        for size in (1, 2, 3, 2):
            self._make_loop(size)
        endless = self._url("on-and-on/0")
        self.web.spots[endless] = Spot("endless-redirect")
        self._link(endless)

    def _make_loop(self, size: int) -> None:
        loop = [self._url("loop") for _ in range(size)]
        for url, target in zip(loop, [*loop[1:], loop[0]], strict=True):
            self.web.spots[url] = Spot("redirect", target=target)
        for url in self.chance.sample(loop, self.chance.randint(1, size)):
            self._link(url)

    # -- what leads nowhere -------------------------------------------------------------------------------------------

    def _make_leaves(self) -> None:
        for kind in (*BROKEN, "poison"):
            url = self._url(kind)
            self.web.spots[url] = Spot(kind)
            self._link(url)
            if self.chance.random() < 0.4:
                moved = self._url("moved")
                self.web.spots[moved] = Spot("redirect", target=url)
                self._link(moved)
        for site in self.web.sites:
            if site.robots != "missing" or site.is_dead:
                for _ in range(2 if site.is_dead else 1):
                    self._link(self._url("gone" if site.is_dead else "private", site))
            if site.goes_wild or site is self.lost:
                for _ in range(3 if site is self.lost else max(2, self.web.pages // 40)):
                    leaf = self._page(site)
                    self._link(leaf, 2)

    def _finish_pages(self) -> None:
        """Pages know their links by now, and slow hosts make them slow."""
        for url, spot in self.web.spots.items():
            host = urlsplit(url).netloc
            is_slow = any(site.is_slow and site.host == host for site in self.web.sites)
            links = tuple(self.links.get(spot.same_as or url, ()))
            slow_s = spot.slow_s or (self.chance.uniform(0.1, 0.4) if is_slow and spot.kind == "page" else 0.0)
            self.web.spots[url] = Spot(spot.kind, links, spot.target, spot.fails, slow_s, spot.same_as)
