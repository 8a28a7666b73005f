"""A map of the subject for the ontology experiment: the user's, or one made from a topic's vocabulary."""

import shutil
from pathlib import Path

from lycosa.errors import BadInput, ConfigError
from lycosa.judge.ontology import Ontology
from lycosa.lab.reproduce.testbed import Request
from lycosa.lab.vocabulary import topic_words
from lycosa.ontology import Association, Concept, Concepts, Name
from lycosa.ontology.concepts import HIERARCHY
from lycosa.ontology.xtm_write import HEAD, TAIL, lines

BELOW, BESIDE, FURTHER = 12, 12, 15  # concepts directly below the focus, associated with it, and one step further


def check_map(request: Request) -> None:
    """Reject an unusable map, with a message that names the option and the file."""
    given = Path(request.topic_map)
    if not given.is_file():
        raise BadInput(f"--map {given}: no such file")
    try:
        Ontology(given.name, focus=list(request.focus)).prepare(given.parent, lambda _: [])
    except ConfigError as error:
        option = f"--focus {', '.join(request.focus)}" if error.key == "topic.focus" else f"--map {given}"
        raise BadInput(f"{option}: {error.problem}") from None


def subject(request: Request, topic: str, folder: Path) -> tuple[str, list[str]]:
    """Write the map to the folder; return its name and the focal concepts."""
    if request.topic_map:
        given = Path(request.topic_map)
        name = f"map{given.suffix}"
        shutil.copyfile(given, folder / name)
        return name, list(request.focus)
    (folder / "map.xtm").write_text(HEAD + "".join(lines(made(topic))) + TAIL, encoding="utf-8")
    return "map.xtm", [topic]


def made(topic: str) -> Concepts:
    """The topic's name in the middle, some of its words below it and associated with it, and some below those."""
    words = [word for word in dict.fromkeys(topic_words(topic)) if word != topic]
    below, beside = words[:BELOW], words[BELOW : BELOW + BESIDE]
    further = words[BELOW + BESIDE : BELOW + BESIDE + FURTHER]
    concepts = [Concept(word, (Name(word),)) for word in (topic, *below, *beside, *further)]
    bonds = [Association(HIERARCHY, (topic, word), True) for word in below]
    bonds += [Association("relates to", (topic, word)) for word in beside]
    bonds += [Association(HIERARCHY, (below[place % len(below)], word), True) for place, word in enumerate(further)]
    return Concepts(concepts, bonds, topic)
