"""The relevant pages of a crawl and the concepts found on each: what is written back to the map of the subject."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from lycosa.db import CrawlDb
from lycosa.ontology.concepts import Concepts

_RELEVANT = (
    "SELECT final_url, title, relevance, why FROM visits WHERE on_topic AND error = '' AND relevance >= ? ORDER BY n"
)


class Found(NamedTuple):
    """One relevant page."""

    url: str
    title: str
    relevance: float
    concepts: Mapping[str, float] = {}  # ids and their contributions to the relevance, largest first


def found_pages(db: CrawlDb, concepts: Concepts, min_relevance: float = 0.0) -> Iterator[Found]:
    """Relevant pages in fetch order. A verdict names concepts by label; a label shared by two concepts means both."""
    ids: dict[str, list[str]] = {}
    for concept in concepts:
        ids.setdefault(concept.label, []).append(concept.id)
    for url, title, relevance, why in db.execute(_RELEVANT, (min_relevance,)):
        reasons = msgspec.json.decode(why, type=dict[str, float]) if why else {}
        yield Found(url, title, relevance, {id: part for label, part in reasons.items() for id in ids.get(label, ())})
