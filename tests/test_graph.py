"""HITS, PageRank and the old Nutch rule: the published numbers, laws that must hold, and speed at a million links."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.graph import CLOSE_ENOUGH, Graph, hits, make_graph, nutch, pagerank

# A -> C, D; B -> C, E; C -> D; D has no links; E -> A
FIVE = [(0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (4, 0)]


def graph_of(edges: list[tuple[int, int]], size: int) -> Graph:
    return make_graph([source for source, _ in edges], [target for _, target in edges], size)


edges_of_twelve = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60)


def test_the_first_pass_counts_links() -> None:
    """A, B, C -> P -> D, E, F: from ones, P has authority 3 and hub score 3."""
    graph = graph_of([(0, 3), (1, 3), (2, 3), (3, 4), (3, 5), (3, 6)], 7)
    assert graph.received(np.ones(7))[3] == 3
    assert graph.offered(np.ones(7))[3] == 3


def test_hits_of_five_pages() -> None:
    """1 -> 3, 4; 2 -> 3, 4, 5; 3 -> 5: the eigenvectors are known."""
    graph = graph_of([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 4)], 5)
    hubs, authorities = hits(graph)
    assert hubs == pytest.approx([0.5774, 0.7887, 0.2113, 0, 0], abs=5e-5)
    assert authorities == pytest.approx([0, 0, 0.6280, 0.6280, 0.4597], abs=5e-5)
    assert np.argsort(-hubs, kind="stable")[:3].tolist() == [1, 0, 2]


def test_hits_finds_the_dominant_eigenvalue() -> None:
    graph = graph_of([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 4)], 5)
    hubs, _ = hits(graph)
    again = graph.offered(graph.received(hubs))
    assert again[:3] / hubs[:3] == pytest.approx([3 + math.sqrt(3)] * 3, abs=1e-6)


def test_pagerank_of_five_pages() -> None:
    ranks = pagerank(graph_of(FIVE, 5))
    assert ranks == pytest.approx([0.2019, 0.0913, 0.2159, 0.3607, 0.1301], abs=5e-5)
    assert ranks.sum() == pytest.approx(1)


def test_nutch_of_five_pages() -> None:
    assert nutch(graph_of(FIVE, 5), rounds=20) == pytest.approx([0.3317, 0.15, 0.3547, 0.7123, 0.2138], abs=5e-5)


def test_nutch_without_a_round_knows_nothing() -> None:
    assert nutch(graph_of(FIVE, 5), rounds=0).tolist() == [1.0] * 5


@given(edges_of_twelve)
def test_hubs_point_at_authorities(edges: list[tuple[int, int]]) -> None:
    """Both are unit vectors, none is negative, and only pages with links to others are hubs."""
    graph = graph_of(edges, 12)
    hubs, authorities = hits(graph)
    linked = {source for source, target in edges if source != target}
    for values in (hubs, authorities):
        assert (values >= 0).all()
        assert (values * values).sum() == pytest.approx(1 if linked else 0)
    assert set(np.flatnonzero(hubs).tolist()) <= linked


@given(edges_of_twelve)
def test_hits_has_settled(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(edges, 12)
    hubs, _ = hits(graph, 5_000)
    again = graph.offered(graph.received(hubs))
    length = np.sqrt((again * again).sum()) or 1.0
    assert np.abs(again / length - hubs).max() < 10 * CLOSE_ENOUGH


@given(edges_of_twelve, st.floats(0.05, 1))
def test_pagerank_is_a_distribution_that_one_more_round_does_not_move(
    edges: list[tuple[int, int]], jump: float
) -> None:
    graph = graph_of(edges, 12)
    ranks = pagerank(graph, jump, 1_000)
    assert ranks.sum() == pytest.approx(1)
    assert (ranks >= jump / 12 - 1e-12).all()
    matrix = np.zeros((12, 12))
    for source, target in {pair for pair in edges if pair[0] != pair[1]}:
        matrix[source, target] = 1
    out = matrix.sum(axis=1, keepdims=True)
    matrix = np.where(out > 0, matrix / np.maximum(out, 1), 1 / 12)
    assert (jump / 12 + (1 - jump) * ranks @ matrix) == pytest.approx(ranks, abs=1e-7)


@given(edges_of_twelve, st.integers(0, 6))
def test_nutch_is_the_rule_spelled_out(edges: list[tuple[int, int]], rounds: int) -> None:
    links = {source: {target for start, target in edges if start == source != target} for source in range(12)}
    score = given_on = dict.fromkeys(range(12), 1.0)
    for _ in range(rounds):
        shares, handed = dict.fromkeys(range(12), 0.0), dict.fromkeys(range(12), 0.0)
        for source, targets in links.items():
            alive = [target for target in targets if links[target]]
            for target in targets:
                shares[target] += given_on[source] / len(targets)
            for target in alive:
                handed[target] += given_on[source] / len(alive)
        score = {page: 0.15 + 0.85 * shares[page] for page in links}
        given_on = {page: 0.15 + 0.85 * handed[page] for page in links}
    assert nutch(graph_of(edges, 12), rounds).tolist() == pytest.approx([score[page] for page in range(12)])


def test_repeated_links_count_once_and_links_to_oneself_not_at_all() -> None:
    plain = graph_of(FIVE, 5)
    messy = graph_of([*FIVE, *FIVE[:3], (2, 2), (3, 3)], 5)
    assert messy.sources.tolist() == plain.sources.tolist()
    assert messy.targets.tolist() == plain.targets.tolist()
    assert pagerank(messy) == pytest.approx(pagerank(plain))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_without_links_there_is_nothing_to_tell_pages_apart(size: int) -> None:
    graph = make_graph([], [], size)
    hubs, authorities = hits(graph)
    assert hubs.tolist() == authorities.tolist() == [0.0] * size
    assert pagerank(graph) == pytest.approx([1 / size] * size if size else [])
    assert nutch(graph, rounds=2) == pytest.approx([0.15] * size)


@pytest.mark.parametrize(("sources", "targets"), [([0], [5]), ([-1], [0]), ([0, 1], [0]), ([[0]], [[1]])])
def test_links_that_lead_nowhere_are_refused(sources: list[int], targets: list[int]) -> None:
    with pytest.raises(ValueError, match=r"numbered|as many"):
        make_graph(sources, targets, 5)


def test_a_million_links_fit_into_memory() -> None:
    """Loose on purpose: it only tells linear from quadratic, which would be gigabytes."""
    chance = np.random.default_rng(1)
    size, links = 20_000, 1_000_000
    targets = (chance.pareto(1.2, links) * 50).astype(int) % size
    tracemalloc.start()
    graph = make_graph(chance.integers(0, size, links), targets, size)
    hubs, _ = hits(graph)
    ranks = pagerank(graph)
    assert tracemalloc.get_traced_memory()[1] < 300_000_000
    tracemalloc.stop()
    assert hubs.max() > 0
    assert ranks.argmax() in np.argsort(np.bincount(graph.targets))[-50:]


def test_agrees_with_networkx() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    chance = np.random.default_rng(2)
    edges = [(a, b) for a, b in itertools.product(range(30), repeat=2) if a != b and chance.random() < 0.1]
    graph, theirs = graph_of(edges, 30), networkx.DiGraph(edges)
    expected, _ = networkx.hits(theirs, max_iter=1_000)
    hubs, _ = hits(graph)
    assert {page: hubs[page] / hubs.sum() for page in expected} == pytest.approx(expected, abs=1e-6)
    assert dict(enumerate(pagerank(graph))) == pytest.approx(networkx.pagerank(theirs, 0.85, tol=1e-12), abs=1e-6)
