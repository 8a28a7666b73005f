"""How `learned` reads the links of a page: which of them may be fetched, and how good their words are."""

from collections.abc import Callable, Mapping, Sequence

from lycosa import urls
from lycosa.judging import text_relevances
from lycosa.strategy.class_rules import ClassRules
from lycosa.strategy.evidence import UNKNOWN
from lycosa.strategy.link_features import SPOT, Scale
from lycosa.strategy.links import SOURCES, Finds
from lycosa.strategy.memory import Candidates, Memory
from lycosa.strategy.url_features import counted_words, split_words
from lycosa.types import Link, Page, TextRelevance

READ = 8  # links per page, best words first, whose surrounding words are judged too
COUNTED = 36  # links per page, best words first, whose words are counted; those of others once they are fetched


class LinkReader:
    """Reads the links of pages, one page after the other."""

    def __init__(self, memory: Memory, class_rules: ClassRules) -> None:
        self._judge: TextRelevance | None = None  # of the words of links, if it can do that
        self._refusals: Callable[[Sequence[Link]], Mapping[str, str]] = lambda links: {}
        self._memory = memory
        self._class_rules = class_rules

    def prepare(self, judge: TextRelevance) -> None:
        self._judge = judge

    def connect(self, refusals: Callable[[Sequence[Link]], Mapping[str, str]]) -> None:
        self._refusals = refusals

    def read(self, page: Page, scales: Mapping[str, Scale]) -> tuple[Finds, list[int]]:
        """Return the links that may be fetched, best words first, and the rows of those with nothing left to learn."""
        links, spots, rows, told = self._candidates(page)
        words = split_words(page, links)
        owns = self._text_relevances(scales["own"], [[*anchor, *address] for anchor, address in words])
        order = sorted(range(len(owns)), key=owns.__getitem__, reverse=True)
        ordered = [links[at] for at in order]
        counted = self._counted([words[at] for at in order])
        elsewheres, values = self._promises(page, ordered, counted)
        contexts = [UNKNOWN] * len(order)  # judging the others would cost more than it is worth
        contexts[:READ] = self._text_relevances(scales["context"], [*map(page.context, ordered[:READ])])
        columns: dict[str, Sequence[float]] = {
            "contexts": contexts,
            "owns": [owns[at] for at in order],
            "elsewheres": elsewheres,
            "values": values,
        }
        candidates = Candidates(ordered, [spots[at] for at in order], [rows[at] for at in order], counted)
        return self._memory.finds(candidates, columns), told

    def words(self, link: Link) -> Sequence[int]:
        """Return the numbers of the words that a link is counted under."""
        ((anchor, address),) = split_words(Page(), [link])
        return counted_words(anchor, address, self._memory.names.of_anchor, self._memory.names.of_path)

    def _counted(self, words: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Sequence[int]]:
        """Return the numbers of the words of each link, best first. Most links are never fetched: so only the first are
        counted, unless where links with such words led elsewhere is known."""
        of_anchor, of_path = self._memory.names.of_anchor, self._memory.names.of_path
        most = len(words) if self._class_rules.link_model else COUNTED
        counted = [counted_words(anchor, address, of_anchor, of_path) for anchor, address in words[:most]]
        return [*counted, *[()] * (len(words) - len(counted))]

    def _promises(
        self, page: Page, links: Sequence[Link], counted: Sequence[Sequence[int]]
    ) -> tuple[list[float], list[float]]:
        """Return where links like these led in the training data, if there is any, and what that was worth."""
        model, names = self._class_rules.link_model, self._memory.names.all
        if not model:
            return [0.0] * len(links), [0.0] * len(links)
        return model.of(page, links, [[names[word] for word in found] for found in counted])

    def _candidates(self, page: Page) -> tuple[list[Link], list[int], list[int], list[int]]:
        """Return the links that may be fetched, their positions, the rows of those known before (0 for the others), and
        the rows of those with nothing left to learn."""
        known, done, key, refused = self._memory.links, self._memory.done, urls.key, self._refusals(page.links)
        links, spots, rows, told = list[Link](), list[int](), list[int](), list[int]()
        for at, (link, row) in enumerate(zip(page.links, known.rows([link.url for link in page.links]), strict=True)):
            if row:
                if known.counts[row] >= SOURCES:
                    told.append(row)
                    continue
            elif key(link.url) in done or link.url in refused:
                continue
            links.append(link)
            spots.append(at // SPOT)
            rows.append(row)
        return links, spots, rows, told

    def _text_relevances(self, scale: Scale, many: Sequence[Sequence[str]]) -> list[float]:
        if self._judge is None:
            return [UNKNOWN] * len(many)
        if all(many):
            relevances = text_relevances(self._judge, many)
        else:
            found = iter(text_relevances(self._judge, [words for words in many if words]))
            relevances = [next(found) if words else UNKNOWN for words in many]
        scale.add([relevance for relevance in relevances if relevance >= 0])
        return relevances
