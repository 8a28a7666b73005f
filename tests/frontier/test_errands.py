"""Where redirected links wait, and which URLs they have claimed."""

from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier.errands import Errand, Errands
from lycosa.frontier.hosts import Host

HOME, AWAY = Host(0, "home.test"), Host(1, "away.test")
HOPS = ["", "http://away.test/1", "http://away.test/2", "http://away.test/3"]


def test_a_hop_is_claimed_until_the_errand_ends() -> None:
    errands = Errands()
    errands.send(7, AWAY, HOPS[1])
    errands.send(7, AWAY, HOPS[2])
    assert errands.get(7) == Errand(AWAY, HOPS[2], (HOPS[1], HOPS[2]))
    assert errands.claimed == {HOPS[1], HOPS[2]}
    assert errands.host_of(7) is AWAY
    assert errands.end(7) == Errand(AWAY, HOPS[2], (HOPS[1], HOPS[2]))
    assert (errands.get(7), errands.host_of(7), errands.claimed) == (None, None, set())


def test_a_link_that_waits_for_a_robots_txt_elsewhere_claims_nothing() -> None:
    errands = Errands()
    errands.send(7, AWAY, "")
    assert errands.get(7) == Errand(AWAY)
    assert not errands.claimed


def test_ending_what_never_began_changes_nothing() -> None:
    errands = Errands()
    errands.send(1, AWAY, HOPS[1])
    assert errands.end(2) is None
    assert errands.claimed == {HOPS[1]}


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([*HOPS, "end"]))))
def test_claimed_is_what_the_open_errands_claim(steps: list[tuple[int, str]]) -> None:
    errands = Errands()
    mine: dict[int, list[str]] = {}
    for number, step in steps:
        if step == "end":
            ended = errands.end(number)
            assert [*(ended.claimed if ended else ())] == mine.pop(number, [])
            continue
        hop = f"{step}?{number}" if step else ""  # a redirect leads only to a URL that no one else has claimed
        errands.send(number, AWAY if hop else HOME, hop)
        own = mine.setdefault(number, [])
        if hop and hop not in own:
            own.append(hop)
        assert errands.claimed == {url for claimed in mine.values() for url in claimed}
