"""How far is each unknown page from the nearest target, while more and more pages become known?

Distances only grow as pages become known, so they are updated instead of recomputed: each page counts its links that
are on a shortest path, and moves one level up when the last of them is gone (Even and Shiloach 1981). All updates
together cost one pass over the links per level, and a web has few levels.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

NEVER = 1 << 30  # no target can be reached


class Clicks:
    """Clicks from each page to the nearest target, through unknown pages only.

    Pages are numbers; `links` lists the targets of each page's links, never the page itself.
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
        """Mark the page as known: from now on it is neither part of a path nor a target."""
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
        """After a page left its level: the pages that have no shortest path left through that level."""
        stranded = []
        for source in self._linked_from[page]:
            if self.clicks[source] == level + 1:
                self._nearer[source] -= 1
                if not self._nearer[source]:
                    stranded.append(source)
        return stranded

    def _settle(self, stranded: Iterable[int], level: int) -> list[int]:
        """Find other paths for pages of a level; those without one move to the next level, or can reach no target."""
        clicks, higher = self.clicks, []
        is_end = not self._at_level[level - 1]  # then no page beyond can reach a target
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
