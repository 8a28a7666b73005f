"""Is the page on topic, and why? One file a kind of topic; here are their names."""

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
