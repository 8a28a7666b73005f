"""Find the names of concepts on a page in one pass over its words, however many names there are.

A name is a sequence of stems. A word without a stem (a stop word, a number) must match as written, so that "Vitamin
D", "Porsche 911" and "Bank of America" are found as they are; a stop word alone is not a name. If names overlap, the
longest counts, and of equally long ones the first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress, count, islice

from lycosa.text import LONGEST_KEPT, STEMS, STOP_WORDS, words

_MOST_WORDS = 500_000  # a hostile page must not grow the table without bound
_QUALIFIER = re.compile(r"(?<=\S)\s+\([^()]*\)$")  # "Mercury (planet)": written in thesauri, not on pages


def key(word: str) -> str:
    """The key by which words are compared: the stem, or the word itself, marked so that it differs from all stems."""
    return STEMS[word] or f"={word}"


def phrase(name: str) -> tuple[str, ...]:
    """The keys of a name; empty if it cannot be matched."""
    found = words(_QUALIFIER.sub("", name))
    if len(found) == 1 and found[0] in STOP_WORDS:
        return ()
    return tuple(map(key, found))


class _Numbers(dict[str, int]):
    """Maps a raw word to the number of its key, with a cache: one look-up per word. Zero: no name contains it."""

    def __init__(self, of_keys: dict[str, int]) -> None:
        super().__init__()
        self._names = dict(of_keys)  # the keys that occur in names
        self._all = of_keys

    def __missing__(self, word: str) -> int:
        part = key(word)
        number = self._names.get(part, 0) if part[0] == "=" else self._all.setdefault(part, len(self._all) + 1)
        if len(word) <= LONGEST_KEPT:
            self[word] = number
        return number

    def trim(self) -> None:
        """Clear the cache if it has grown too large. Only between pages, because numbers must not change within one."""
        if len(self) > _MOST_WORDS:
            self.clear()
            self._all = dict(self._names)


class _Node:
    """A node in the prefix tree of all names."""

    __slots__ = ("next", "owners")

    def __init__(self) -> None:
        self.owners: tuple[int, ...] = ()  # the concepts whose name ends here
        self.next: dict[int, _Node] = {}


class Matcher:
    """Counts how often each concept, identified by its index, is named."""

    def __init__(self, names: Sequence[Iterable[str]]) -> None:
        numbers: dict[str, int] = {}
        root = _Node()
        self.silent: list[int] = []  # concepts that cannot be matched
        for owner, of_one in enumerate(names):
            phrases = {found for found in map(phrase, of_one) if found}
            if not phrases:
                self.silent.append(owner)
            for found in phrases:
                node = root
                for part in found:
                    node = node.next.setdefault(numbers.setdefault(part, len(numbers) + 1), _Node())
                node.owners += (owner,)
        self._numbers = _Numbers(numbers)
        self._single = {number: node.owners for number, node in root.next.items() if node.owners}
        self._pairs = {(one, two): node for one, first in root.next.items() for two, node in first.next.items()}
        self._begins = {one for one, _ in self._pairs}  # first words of longer names
        self._plain = {number for part, number in numbers.items() if part[0] == "="}

    def count(self, text: Sequence[str]) -> tuple[dict[int, int], int]:
        """The counts of the concepts named on a page, and the count of its most frequent stem."""
        self._numbers.trim()
        numbers = list(map(self._numbers.__getitem__, text))
        tally = Counter(numbers)
        tally.pop(0, None)
        most = max((times for number, times in tally.items() if number not in self._plain), default=0)
        found: dict[int, int] = {}
        if not self._begins.isdisjoint(tally):
            for at, length, owners in self._longer(numbers):
                for number in numbers[at : at + length]:
                    tally[number] -= 1
                for owner in owners:
                    found[owner] = found.get(owner, 0) + 1
        for number in self._single.keys() & tally.keys():
            if times := tally[number]:
                for owner in self._single[number]:
                    found[owner] = found.get(owner, 0) + times
        return found, most

    def _longer(self, numbers: list[int]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Position, length and concepts of names of two or more words, without those covered by a longer one."""
        nodes = list(map(self._pairs.get, zip(numbers, islice(numbers, 1, None), strict=False)))
        found = []
        for at in compress(count(), nodes):
            node: _Node | None = nodes[at]
            end = at + 2
            while node is not None:
                if node.owners:
                    found.append((at - end, at, node.owners))
                node = node.next.get(numbers[end]) if node.next and end < len(numbers) else None
                end += 1
        found.sort()  # longest first
        taken = bytearray(len(numbers))
        kept = []
        for minus, at, owners in found:
            end = at - minus
            if taken.find(1, at, end) < 0:
                taken[at:end] = b"\1" * -minus
                kept.append((at, -minus, owners))
        return kept
