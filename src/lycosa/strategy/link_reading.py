"""How `learned` reads the links of a page: which of them may be fetched, and how good their words are."""

from collections.abc import Callable, Mapping, Sequence

from lycosa import urls
from lycosa.strategy.class_rules import ClassRules
from lycosa.strategy.link_features import SPOT, Scale
from lycosa.strategy.links import SOURCES, Finds
from lycosa.strategy.memory import Candidate, Memory
from lycosa.strategy.url_features import counted_words
from lycosa.types import Page, TextRelevance, text_relevances

READ = 8  # links per page, best words first, whose surrounding words are judged too
UNKNOWN = -1.0  # relevance of words that were not judged


class LinkReader:
    """Reads the links of pages, one page after the other."""

    def __init__(self, memory: Memory, class_rules: ClassRules) -> None:
        self.judge: TextRelevance | None = None  # of the words of links, if it can do that
        self.refuses: Callable[[str, int], str] = lambda url, depth: ""
        self._memory = memory
        self._class_rules = class_rules

    def read(self, page: Page, scales: Mapping[str, Scale]) -> tuple[Finds, list[int]]:
        """Return the links that may be fetched, best words first, and the rows of those with nothing left to learn."""
        candidates, told = self._candidates(page)
        owns = self._text_relevances(scales["own"], [own for _, _, _, own, _ in candidates])
        order = sorted(range(len(owns)), key=owns.__getitem__, reverse=True)
        links = [candidate[0] for candidate in candidates]
        elsewheres, values = self._promises(page, candidates)
        contexts = [UNKNOWN] * len(order)  # judging the others would cost more than it is worth
        around = [page.context(links[at]) for at in order[:READ]]
        contexts[:READ] = self._text_relevances(scales["context"], around)
        columns: dict[str, Sequence[float]] = {
            "contexts": contexts,
            "owns": [owns[at] for at in order],
            "elsewheres": [elsewheres[at] for at in order],
            "values": [values[at] for at in order],
        }
        return self._memory.finds([candidates[at] for at in order], columns), told

    def _promises(self, page: Page, candidates: Sequence[Candidate]) -> tuple[list[float], list[float]]:
        """Return where links like these led in the training data, if there is any, and what that was worth."""
        model, names = self._class_rules.link_model, self._memory.names.all
        if not model:
            return [0.0] * len(candidates), [0.0] * len(candidates)
        links, _, _, _, words = zip(*candidates, strict=True) if candidates else ((),) * 5
        return model.of(page, links, [[names[word] for word in found] for found in words])

    def _candidates(self, page: Page) -> tuple[list[Candidate], list[int]]:
        known, done, key, refuses = self._memory.links, self._memory.done, urls.key, self.refuses
        of_anchor, of_path = self._memory.names.of_anchor, self._memory.names.of_path
        candidates: list[Candidate] = []
        told = []
        for at, (link, row) in enumerate(zip(page.links, known.rows([link.url for link in page.links]), strict=True)):
            if row:
                if known.counts[row] >= SOURCES:
                    told.append(row)
                    continue
            elif key(link.url) in done or refuses(link.url, link.depth):
                continue
            candidates.append((link, at // SPOT, row, *counted_words(link, page, of_anchor, of_path)))
        return candidates, told

    def _text_relevances(self, scale: Scale, many: Sequence[Sequence[str]]) -> list[float]:
        if self.judge is None:
            return [UNKNOWN] * len(many)
        found = iter(text_relevances(self.judge, [words for words in many if words]))
        relevances = [next(found) if words else UNKNOWN for words in many]
        scale.add([relevance for relevance in relevances if relevance >= 0])
        return relevances
