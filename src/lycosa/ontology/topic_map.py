"""From the topics of a topic map to the concepts of a subject, following the standard's data model.

Topics that only name kinds of associations, roles, occurrences or scopes are vocabulary, not concepts of the subject.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct, field

from lycosa.ontology.concepts import (
    HIERARCHY,
    INSTANCE_OF,
    Association,
    Concept,
    Concepts,
    Name,
    in_order,
    spaced,
    tail,
)
from lycosa.types import BadInput

OURS = "urn:x-lycosa:"
PAGE = f"{OURS}page"  # the type of topics added by an export, which are results, not concepts
RELEVANCE = f"{OURS}relevance"
URL = f"{OURS}url"
ABOUT = f"{OURS}about"  # the association between a page and a concept found on it
CONCEPT = f"{OURS}concept"  # the role of the concept in it
_MOST_ASSOCIATIONS = 2_000_000  # one element with n players above and m below makes n * m associations
LANGUAGE = "http://www.topicmaps.org/xtm/1.0/language.xtm#"

_STANDARD = (  # published subjects that belong to the notation, never to the subject matter
    OURS,
    "http://www.topicmaps.org/xtm/1.0/",
    "http://psi.topicmaps.org/",
    "http://psi.ontopia.net/",
    "http://psi.oasis-open.org/iso/639",
    "http://www.techquila.com/psi/",
)
_HIERARCHY = {
    *("superclasssubclass", "subclasssuperclass", "supertypesubtype", "subtypesupertype", "subclassof", "superclassof"),
    *("broadernarrower", "narrowerbroader", "hierarchicalrelationtype", "broadertermnarrowerterm"),
}
_WIDER = {"superclass", "supertype", "broader", "broaderterm", "superordinate", "superordinateroletype"}
_NARROWER = {"subclass", "subtype", "narrower", "narrowerterm", "subordinate", "subordinateroletype"}
_find_language = re.compile(r"(?:language\.xtm#|iso/?639(?:-\d)?[/#]+|^#(?:lang-)?)([a-z]{2,3}(?:-[a-z]+)?)$").search
_TWO_LETTERS = dict(  # published subjects use three-letter language codes
    pair.split("=")
    for pair in """eng=en ger=de deu=de fre=fr fra=fr spa=es ita=it por=pt nor=no nob=nb nno=nn swe=sv dan=da fin=fi
    dut=nl nld=nl rus=ru jpn=ja chi=zh zho=zh kor=ko pol=pl tur=tr ara=ar""".split()
)


class Topic(Struct):
    """A topic as in the file. A reference is '#id', an IRI, or '=IRI' for a resource that is the subject itself."""

    keys: list[str]  # its own references, the id first
    types: list[str] = field(default_factory=list)
    names: list[tuple[int, str, list[str]]] = field(default_factory=list)  # rank, text, scope
    vocabulary: list[str] = field(default_factory=list)  # references used as types and scopes


class Bond(Struct):
    """An association as in the file."""

    type: str
    roles: list[tuple[str, list[str]]] = field(default_factory=list)  # role type, players


class TopicMap(Struct):
    """Resolves all references within the file; others are ignored."""

    topics: list[Topic] = field(default_factory=list)
    bonds: list[Bond] = field(default_factory=list)
    owner: dict[str, int] = field(default_factory=dict)  # reference to topic, after merging

    def concepts(self, source: str) -> Concepts:
        """The concepts and associations of the subject, in file order."""
        self._merge()
        skip = self._vocabulary()
        found = {
            index: self._concept(topic)
            for index, topic in enumerate(self.topics)
            if topic.names and topic.keys and index not in skip
        }
        made = list(islice(self._associations(found), _MOST_ASSOCIATIONS + 1))
        if len(made) > _MOST_ASSOCIATIONS:
            raise BadInput(f"{source}: more than {_MOST_ASSOCIATIONS:,} associations")
        return Concepts(found.values(), dict.fromkeys(made), source)

    def _merge(self) -> None:
        """Merge topics that share an id, a subject identifier or an address."""
        parent = list(range(len(self.topics)))

        def top(index: int) -> int:
            while parent[index] != index:
                parent[index] = index = parent[parent[index]]
            return index

        for index, topic in enumerate(self.topics):
            for key in topic.keys:
                first, second = sorted((top(index), top(self.owner.setdefault(key, index))))
                parent[second] = first
        self.owner = {key: top(index) for key, index in self.owner.items()}
        for index, topic in enumerate(self.topics):
            if (whole := self.topics[top(index)]) is not topic:
                whole.keys += topic.keys
                whole.types += topic.types
                whole.names += topic.names
                whole.vocabulary += topic.vocabulary
                self.topics[index] = Topic([])  # a placeholder, so that the others keep their index

    def _indices(self, references: Iterable[str]) -> set[int]:
        return {self.owner[name] for name in references if name in self.owner}

    def _vocabulary(self) -> set[int]:
        """Topics that only serve as vocabulary, and pages found by an earlier crawl."""
        used = self._indices(name for topic in self.topics for name in topic.vocabulary)
        used |= self._indices(name for bond in self.bonds for name in (bond.type, *(role for role, _ in bond.roles)))
        players = self._indices(name for bond in self.bonds for _, players in bond.roles for name in players)
        used -= players
        types = self._indices(name for at, topic in enumerate(self.topics) if at not in used for name in topic.types)
        used |= self._indices(name for at in used for name in self.topics[at].types) - players
        used -= types
        page = self.owner.get(PAGE)
        for index, topic in enumerate(self.topics):
            if any(key.startswith(_STANDARD) for key in topic.keys) or page in self._indices(topic.types):
                used.add(index)
        return used

    def _concept(self, topic: Topic) -> Concept:
        first = topic.keys[0]
        names = in_order((rank, Name(text, self._language(scope))) for rank, text, scope in topic.names)
        identifiers = dict.fromkeys(key for key in topic.keys if not key.startswith(("#", "=")))
        return Concept(first.lstrip("#="), names, tuple(identifiers))

    def _language(self, scope: list[str]) -> str:
        """The language of a name, empty if its scope names none."""
        for theme in scope:
            for key in self.topics[self.owner[theme]].keys if theme in self.owner else [theme]:
                if found := _find_language(key.lower()):
                    return _TWO_LETTERS.get(found[1], found[1])
        return ""

    def _associations(self, concepts: dict[int, Concept]) -> Iterator[Association]:
        """Associations between concepts; hierarchical ones in pairs."""

        def ids(references: Iterable[str]) -> list[str]:
            indices = [self.owner[name] for name in references if name in self.owner]
            return [concepts[index].id for index in dict.fromkeys(indices) if index in concepts]

        for bond in self.bonds:
            if self._aliases(bond.type) & _HIERARCHY:
                wide, narrow = self._sides(bond)
                pairs = ((above, below) for above in ids(wide) for below in ids(narrow) if above != below)
                yield from (Association(HIERARCHY, pair, True) for pair in pairs)
            elif len(members := ids(name for _, players in bond.roles for name in players)) > 1:
                yield Association(self._label(bond.type), tuple(members))
        for index, concept in concepts.items():
            above = [one for one in ids(self.topics[index].types) if one != concept.id]
            yield from (Association(INSTANCE_OF, (one, concept.id)) for one in above)

    def _aliases(self, reference: str) -> set[str]:
        """All names of an association or role type, letters only: 'superclasssubclass'."""
        called = [reference]
        if reference in self.owner:
            topic = self.topics[self.owner[reference]]
            called += [*topic.keys, *(text for _, text, _ in topic.names)]
        return {_letters(name) for name in [*called, *map(tail, called)]}

    def _label(self, reference: str) -> str:
        """The display name of an association type."""
        if reference in self.owner and (names := self.topics[self.owner[reference]].names):
            return names[0][1]
        return spaced(tail(reference)).lower()

    def _sides(self, bond: Bond) -> tuple[list[str], list[str]]:
        """Players above and below; if the roles do not say, the first role is above."""
        named = [self._aliases(role) for role, _ in bond.roles]
        above = [bool(aliases & _WIDER) for aliases in named]
        if not any(above):
            known = any(aliases & _NARROWER for aliases in named)
            above = [not aliases & _NARROWER if known else place == 0 for place, aliases in enumerate(named)]
        sides: tuple[list[str], list[str]] = ([], [])
        for is_above, (_, players) in zip(above, bond.roles, strict=True):
            sides[0 if is_above else 1].extend(players)
        return sides


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]+", "", name.casefold())
