"""The relevant pages of a crawl and the concepts found on each: what is written back to the map of the subject."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lycosa.ontology.concepts import Concepts
from lycosa.store.db import CrawlDb
from lycosa.store.visited import relevant_pages


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
    for url, title, relevance, why in relevant_pages(db, min_relevance):
        yield Found(url, title, relevance, {id: part for label, part in why.items() for id in ids.get(label, ())})
