"""The judges, which decide whether a page is on topic and why: one module for each kind of topic, listed by name."""

from lycosa.judge.examples import Examples
from lycosa.judge.keywords import Keywords
from lycosa.judge.ontology import Ontology
from lycosa.judge.sentence import Sentence
from lycosa.judge.taxonomy import Taxonomy
from lycosa.judge.tids import Tids

JUDGES: dict[str, type] = {
    "examples": Examples,
    "keywords": Keywords,
    "ontology": Ontology,
    "sentence": Sentence,
    "taxonomy": Taxonomy,
    "tids": Tids,
}
