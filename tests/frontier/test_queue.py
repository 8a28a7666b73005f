"""The order of a host's queue is exact: highest score first, first found first among equals."""

from array import array
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier.priority import rank_of
from lycosa.frontier.queue import HostQueue
from lycosa.types import Band

SCORES = st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 1.0, 1e9])


def all_of(ids: Sequence[int], rank: int) -> list[int]:
    return list(ids)


def drain(queue: HostQueue, scores: dict[int, float]) -> list[int]:
    def waits(number: int, rank: int) -> bool:
        return number in scores and rank_of(scores[number]) == rank

    order = []
    while head := queue.head(waits):
        queue.advance()
        order.append(head[1])
        del scores[head[1]]
    return order


def push(queue: HostQueue, scores: dict[int, float], score: float, ids: list[int]) -> None:
    def among(ids: Sequence[int], rank: int) -> list[int]:
        return [number for number in ids if rank_of(scores[number]) == rank]

    moved = scores.keys() & set(ids)
    scores.update(dict.fromkeys(ids, score))
    if moved:
        queue.move(rank_of(score), array("I", sorted(ids)), among)
    else:
        queue.push(rank_of(score), array("I", sorted(ids)))


def test_best_first_then_first_found() -> None:
    queue, scores = HostQueue(), {}
    push(queue, scores, 0.5, [1, 2, 5])
    push(queue, scores, 0.9, [3])
    push(queue, scores, 0.5, [4])
    assert drain(queue, scores) == [3, 1, 2, 4, 5]


def test_a_raised_score_moves_a_url_up_and_leaves_no_second_one() -> None:
    queue, scores = HostQueue(), {}
    push(queue, scores, 0.5, [1, 2, 3])
    push(queue, scores, 0.8, [3])
    assert drain(queue, scores) == [3, 1, 2]


def test_a_lowered_score_moves_it_down() -> None:
    queue, scores = HostQueue(), {}
    push(queue, scores, 0.5, [1, 2])
    push(queue, scores, 0.1, [1])
    assert drain(queue, scores) == [2, 1]


@given(st.lists(st.tuples(SCORES, st.sets(st.integers(1, 40), min_size=1)), max_size=30))
def test_equals_sorting_by_score_and_number(pushes: list[tuple[float, set[int]]]) -> None:
    queue, scores = HostQueue(), {}
    for score, ids in pushes:
        push(queue, scores, score, list(ids))
    expected = [number for _, number in sorted((-score, number) for number, score in scores.items())]
    assert drain(queue, dict(scores)) == expected


def test_scores_that_change_often_do_not_fill_the_memory() -> None:
    queue, scores = HostQueue(), {}
    for step in range(20_000):
        push(queue, scores, float(step), [step % 10 + 1])
    assert len(queue.waiting(all_of)) <= 10
    assert len(queue._heap) <= 30
    assert drain(queue, scores) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_many_small_queues_keep_few_stale_entries_in_all() -> None:
    """A crawl has tens of thousands of hosts, with a handful of URLs each."""
    entries = waiting = 0
    for host in range(50):
        queue, scores = HostQueue(), {}
        for step in range(500):
            push(queue, scores, float(step), [step % (host % 3 + 1) + 1])
        entries += len(queue._heap)
        waiting += len(scores)
    assert entries <= 2 * waiting + 9 * 50


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 2**32 - 1))
def test_a_key_holds_score_and_number_to_the_last_bit(score: float, number: int) -> None:
    queue = HostQueue()
    rank = rank_of(score)
    queue.push(rank, array("I", [number]))
    assert queue.head(lambda found, value: (found, value) == (number, rank)) == (-rank, number)


@given(st.lists(st.tuples(st.floats(-1e12, 1e12), st.sets(st.integers(1, 30), min_size=1)), max_size=20))
def test_any_scores_are_ordered(pushes: list[tuple[float, set[int]]]) -> None:
    """Money may be owed: scores below zero too."""
    queue, scores = HostQueue(), {}
    for score, ids in pushes:
        push(queue, scores, score, list(ids))
    expected = [number for _, number in sorted((-score, number) for number, score in scores.items())]
    assert drain(queue, dict(scores)) == expected


def test_runs_that_meet_lose_nobody() -> None:
    """Two runs of one score, of which one comes to where the other begins."""
    queue, scores = HostQueue(), {}
    for ids in ([1, 4, 6], [3, 4, 5], [3, 4, 5], [4, 7]):
        push(queue, scores, 0.5, ids)
    assert queue.waiting(all_of) == {1, 3, 4, 5, 6, 7}
    queue.scale(2.0, Band.LISTED)
    assert drain(queue, dict.fromkeys(scores, 1.0)) == [1, 3, 4, 5, 6, 7]
