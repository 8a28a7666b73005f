"""Which addresses and names are public?"""

import pytest

from lycosa.fetch.address import is_private_name, is_public


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001:831::200e"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1"),
        *("192.0.0.1", "192.0.0.9", "192.0.0.171", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1"),
        *("203.0.113.4", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00::1", "ff02::1", "ff0e::1"),
        *("fec0::1", "feff::1", "4000::1", "e000::1", "100::1", "5f00::1", "2001:db8::1", "3fff::1", "2001:2::1"),
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo
        *("::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2002:7f00:1::1", "2002:a00:1::1"),
        *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::101:101"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["::ffff:1.1.1.1", "2002:101:101::1", "64:ff9b::1.1.1.1"])
def test_ipv6_addresses_that_lead_to_a_public_ipv4_address(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "name",
    [
        *("localhost", "localhost.", "x.localhost", "x.localhost.", "localhost..", "localhost.localdomain"),
        *("ip6-localhost", "router", "router.", "printer.local", "metadata.google.internal", "nas.home.arpa."),
        *("127.0.0.1", "[::1]", "[fec0::1]", "[::ffff:7f00:1]"),
    ],
)
def test_names_that_are_private_by_their_looks(name: str) -> None:
    assert is_private_name(name)


@pytest.mark.parametrize(
    "name", ["example.org", "example.org.", "localhost.example.org", "notlocalhost.com", "1.1.1.1", "[2606:4700::1111]"]
)
def test_names_that_anybody_may_have(name: str) -> None:
    assert not is_private_name(name)
