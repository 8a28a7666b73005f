"""Many host names, one server. With wildcard DNS, one machine can appear as any number of hosts.

The number of hosts per registered domain is therefore limited, and when more than a few hosts of one domain turn out to
have the same address, they share one delay. A host of such a domain whose address is not yet known is assumed to be one
of them. Names below a suffix open to public registration (co.uk, but also blogspot.com) count as domains of their own.
"""

from collections import Counter

from lycosa import urls

FEW = 4  # hosts of one domain that may share an address without sharing a delay


class Crowd:
    """Hosts of one domain that share an address."""

    __slots__ = ("due_at", "hosts")

    def __init__(self) -> None:
        self.hosts: set[int] = set()
        self.due_at = 0.0

    def is_large(self, few: int) -> bool:
        return len(self.hosts) > few


class Crowds:
    """Counts hosts by the last two labels of their names, and by registered domain only where there are many: the list
    of suffixes is slow to load, and most crawls never need it."""

    def __init__(self, most_hosts: int, per_ip: bool = False) -> None:
        self.most_hosts = most_hosts  # per domain; 0: no limit
        self._per_ip = per_ip  # all hosts with the same address share a delay, however few they are
        self.few = FEW
        self._names: dict[str, list[str]] = {}  # by the last two labels
        self._counts: dict[str, Counter[str]] = {}  # number of hosts by domain, for labels with many hosts
        self._by_address: dict[tuple[str, str], Crowd] = {}
        self._by_host: dict[int, Crowd] = {}
        self._large: dict[str, Crowd] = {}  # by domain

    def enter(self, name: str) -> None:
        """Count a new host."""
        labels = _last_labels(name)
        names = self._names.get(labels)
        if names is None:
            self._names[labels] = [name]
            return
        names.append(name)
        if counts := self._counts.get(labels):
            counts[_domain(name)] += 1

    def admits(self, name: str) -> bool:
        """Whether a new host with this name is allowed."""
        labels = _last_labels(name)
        names = self._names.get(labels, ())
        if not self.most_hosts or len(names) < self.most_hosts:
            return True
        if labels not in self._counts:
            self._counts[labels] = Counter(map(_domain, names))
        return self._counts[labels][_domain(name)] < self.most_hosts

    def answered(self, host: int, name: str, address: str) -> None:
        """Record the address of a host."""
        if self._per_ip:
            key = "", address
        elif len(self._names.get(_last_labels(name), ())) <= self.few:
            return
        else:
            key = _domain(name), address
        crowd = self._by_address.get(key)
        if crowd is None:
            crowd = self._by_address[key] = Crowd()
        if (before := self._by_host.get(host)) is not crowd:
            if before:
                before.hosts.discard(host)
            self._by_host[host] = crowd
            crowd.hosts.add(host)
            if crowd.is_large(self.few):
                self._large[key[0]] = crowd

    def of(self, host: int, name: str) -> Crowd | None:
        """The crowd with which a host must share its delay, if any."""
        if self._per_ip:
            return self._by_host.get(host)
        if not self._large:
            return None
        crowd = self._by_host.get(host) or self._large.get(_domain(name))
        return crowd if crowd and crowd.is_large(self.few) else None


def _last_labels(name: str) -> str:
    first, dot, last = name.rpartition(".")
    return first.rpartition(".")[2] + dot + last


def _domain(name: str) -> str:
    return urls.registered_domain(urls.hostname(f"http://{name}/"), private=True)
