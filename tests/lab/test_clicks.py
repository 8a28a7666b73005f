"""Distances that are repaired are the distances that a new search would find."""

from hypothesis import given
from hypothesis import strategies as st

from lycosa.lab.clicks import NEVER, Clicks


def measured(links: list[set[int]], targets: set[int], known: set[int]) -> list[int]:
    """Each distance by a search of its own, through unknown pages only."""
    found = []
    for start in range(len(links)):
        level, edge, seen = 0, {start} - known, {start}
        while edge and not edge & targets:
            edge = {page for one in edge for page in links[one]} - known - seen
            seen |= edge
            level += 1
        found.append(level if edge else NEVER)
    return found


@given(st.data())
def test_the_same_as_measured_again_after_each_step(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 14))
    pages = st.integers(0, count - 1)
    links = [set(data.draw(st.lists(pages, max_size=4))) - {page} for page in range(count)]
    targets = set(data.draw(st.lists(pages, max_size=4)))
    clicks, known = Clicks(links, targets), set[int]()
    assert clicks.clicks == measured(links, targets, known)
    for page in data.draw(st.permutations(range(count))):
        clicks.know(page)
        known.add(page)
        assert clicks.clicks == measured(links, targets, known)


def test_a_ring_that_leads_nowhere_is_given_up_at_once() -> None:
    """Its pages must not lift each other level by level without end."""
    links = [{1}, {2}, {3}, {1, 4}, set()]
    clicks = Clicks(links, {4})
    assert clicks.clicks == [4, 3, 2, 1, 0]
    clicks.know(4)
    assert clicks.clicks == [NEVER] * 5
