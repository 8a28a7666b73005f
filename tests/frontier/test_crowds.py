"""How many hosts a domain may have, and which of them share one delay."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa import config
from lycosa.frontier.crowds import FEW, Crowds
from lycosa.frontier.hosts import Hosts
from lycosa.types import Link, Reply


def filled(*names: str, most_hosts: int = 0) -> Crowds:
    crowds = Crowds(most_hosts)
    for name in names:
        crowds.enter(name)
    return crowds


def names(count: int, domain: str = "trap.com") -> list[str]:
    return [f"n{number}.{domain}" for number in range(count)]


@given(st.integers(1, 12), st.integers(0, 15))
def test_a_domain_admits_hosts_up_to_the_limit(most: int, count: int) -> None:
    crowds = filled(*names(count), most_hosts=most)
    assert crowds.admits("one-more.trap.com") == (count < most)
    assert crowds.admits("www.other.com")


def test_zero_means_no_limit() -> None:
    assert filled(*names(1_000)).admits("one-more.trap.com")


def test_names_below_a_public_suffix_are_domains_of_their_own() -> None:
    crowds = filled(*(f"site{number}.co.uk" for number in range(5)), *names(5, "trap.co.uk"), most_hosts=5)
    assert crowds.admits("another-site.co.uk")
    assert not crowds.admits("one-more.trap.co.uk")


def test_hosts_that_enter_after_the_limit_was_checked_count_too() -> None:
    crowds = filled(*(f"site{number}.co.uk" for number in range(3)), most_hosts=3)
    for name in names(3, "trap.co.uk"):
        assert crowds.admits(name)
        crowds.enter(name)
    assert not crowds.admits("z.trap.co.uk")


def answered(crowds: Crowds, hosts: list[str], address: str, start: int = 0) -> None:
    for number, name in enumerate(hosts, start):
        crowds.answered(number, name, address)


@pytest.mark.parametrize("count", [FEW, FEW + 1, 3 * FEW])
def test_a_few_hosts_may_share_an_address_many_share_a_delay(count: int) -> None:
    hosts = names(3 * FEW)
    crowds = filled(*hosts)
    answered(crowds, hosts[:count], "10.0.0.1")
    crowd = crowds.of(0, hosts[0])
    assert (crowd is not None) == (count > FEW)
    assert all(crowds.of(number, hosts[number]) is crowd for number in range(count))


def test_a_host_that_has_not_answered_yet_is_taken_for_one_of_them() -> None:
    hosts = names(2 * FEW)
    crowds = filled(*hosts)
    answered(crowds, hosts[: FEW + 1], "10.0.0.1")
    assert crowds.of(99, "new.trap.com") is crowds.of(0, hosts[0])
    assert crowds.of(99, "www.other.com") is None


def test_a_host_that_moves_to_another_address_leaves_the_crowd() -> None:
    hosts = names(FEW + 1)
    crowds = filled(*hosts)
    answered(crowds, hosts, "10.0.0.1")
    assert crowds.of(1, hosts[1])
    crowds.answered(0, hosts[0], "10.0.0.2")
    assert crowds.of(0, hosts[0]) is None
    assert crowds.of(1, hosts[1]) is None, "the others are no longer many"


def test_an_address_shared_by_many_domains_is_no_crowd() -> None:
    hosts = [f"www.site{number}.com" for number in range(3 * FEW)]
    crowds = filled(*hosts)
    answered(crowds, hosts, "10.0.0.1")
    assert all(crowds.of(number, name) is None for number, name in enumerate(hosts))


def contacts(per_ip: bool) -> list[float]:
    """When two hosts of different domains with the same address are contacted, after each has answered once."""
    waiting = {1, 2, 3, 4}
    hosts = Hosts(
        config.Fetch(delay_s=1.0, delay_factor=0.0, per_ip=per_ip),
        lambda number, rank: number in waiting,
        lambda ids, rank: [number for number in ids if number in waiting],
    )
    for name, ids in (("a.org", [1, 2]), ("b.net", [3, 4])):
        hosts.push(hosts.named(name), 1, array("I", ids), 0.0)
    times = []
    for tenth in range(40):
        while taken := hosts.take(tenth / 10):
            host, number = taken
            waiting.discard(number)
            times.append(tenth / 10)
            hosts.rest(host, Reply(Link(f"http://{host.name}/"), status=200, ip="10.0.0.1"), tenth / 10)
    return times


def test_hosts_that_share_an_address_share_a_delay_on_request() -> None:
    assert contacts(per_ip=False) == [0.0, 0.0, 1.0, 1.0]
    assert contacts(per_ip=True) == [0.0, 0.0, 1.0, 2.0]


def test_with_several_shards_each_waits_for_the_others_part() -> None:
    hosts = Hosts(config.Fetch(delay_s=1.0, delay_factor=0.0, per_ip=True), lambda *_: True, lambda ids, _: [*ids])
    hosts.share(3)
    hosts.push(host := hosts.named("a.org"), 1, array("I", [1, 2]), 0.0)
    assert hosts.take(0.0)
    hosts.rest(host, Reply(Link("http://a.org/"), status=200, ip="10.0.0.1"), 0.0)
    assert not hosts.take(2.9)
    assert hosts.take(3.0)
