"""Every URL belongs to exactly one shard, that of its host."""

from lycosa.shards.routing import Routing

URLS = [f"http://{name}{port}/{page}" for name in "abcdefgh" for port in ("", ":8080") for page in ("", "x?y")]


def test_all_urls_of_a_host_belong_to_one_shard() -> None:
    routing = Routing(0, 3)
    for name in "abcdefgh":
        owners = {routing.owner(url) for url in URLS if url.startswith((f"http://{name}/", f"http://{name}:"))}
        assert len(owners) == 1


def test_hosts_are_spread_over_all_shards() -> None:
    assert {Routing(0, 4).owner(f"http://host{number}.org/") for number in range(100)} == {0, 1, 2, 3}


def test_a_name_with_and_without_www_belongs_to_the_same_shard() -> None:
    routing = Routing(0, 10)
    for name in ("example.org", "a.net", "b.net", "c.net"):
        assert routing.owner(f"http://www.{name}/") == routing.owner(f"https://{name}/")


def test_shards_agree_on_who_owns_a_url_and_who_decides_on_a_digest() -> None:
    one, other = Routing(0, 4), Routing(3, 4)
    assert [one.owner(url) for url in URLS] == [other.owner(url) for url in URLS]
    assert one.decides("abc") == other.decides("abc")
    assert one.is_elsewhere(URLS[0]) == (one.owner(URLS[0]) != 0)
    assert other.others() == [0, 1, 2]
