"""How far is each unknown page from the nearest target, while more and more pages become known?

Distances only grow as pages become known, so they are repaired instead of computed again: each page counts the links
that lie on a shortest way, and moves one level up when the last of them is gone (Even and Shiloach 1981). All repairs
together cost one pass over the links for each level, and a web has few levels.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

NEVER = 1 << 30  # no target can be reached


class Clicks:
    """Clicks from each page to the nearest target, by way of unknown pages only.

    Pages are numbers; `links` says where each of them leads, never to itself.
    """

    def __init__(self, links: Sequence[AbstractSet[int]], targets: Iterable[int]) -> None:
        self.links = links
        self.clicks = [NEVER] * len(links)  # 0 for a target; NEVER for a page that is known
        self._linked_from: list[list[int]] = [[] for _ in links]
        self._nearer = [0] * len(links)  # how many links of a page lead one click nearer to a target
        self._at_level: defaultdict[int, int] = defaultdict(int)  # how many pages are that many clicks away
        for page, linked in enumerate(links):
            for other in linked:
                self._linked_from[other].append(page)
        self._measure(targets)

    def know(self, page: int) -> None:
        """The page is known from now on: it is no way to anything and no goal any more."""
        level = self.clicks[page]
        if level == NEVER:
            return
        self.clicks[page] = NEVER
        self._at_level[level] -= 1
        stranded = self._leave(page, level)
        while stranded:
            level += 1
            stranded = self._settle(stranded, level)

    def _measure(self, targets: Iterable[int]) -> None:
        clicks, level, edge = self.clicks, 0, sorted(set(targets))
        for page in edge:
            clicks[page] = 0
        while edge:
            self._at_level[level] = len(edge)
            beyond: list[int] = []
            for page in edge:
                for source in self._linked_from[page]:
                    if clicks[source] == NEVER:
                        clicks[source] = level + 1
                        beyond.append(source)
                    self._nearer[source] += clicks[source] == level + 1
            level, edge = level + 1, beyond

    def _leave(self, page: int, level: int) -> list[int]:
        """A page left its level: those that now have no way left over that level."""
        stranded = []
        for source in self._linked_from[page]:
            if self.clicks[source] == level + 1:
                self._nearer[source] -= 1
                if not self._nearer[source]:
                    stranded.append(source)
        return stranded

    def _settle(self, stranded: Iterable[int], level: int) -> list[int]:
        """Find other ways for pages of a level; those that have none move on to the next, or have none at all."""
        clicks, higher = self.clicks, []
        is_end = not self._at_level[level - 1]  # then nobody leads anywhere from here on
        for page in stranded:
            self._nearer[page] = sum(clicks[linked] == level - 1 for linked in self.links[page])
            if self._nearer[page]:
                continue
            clicks[page] = NEVER if is_end else level + 1
            self._at_level[level] -= 1
            self._at_level[level + 1] += not is_end
            higher += self._leave(page, level)
            higher += [] if is_end else [page]
        return higher
