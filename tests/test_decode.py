"""Content encodings: what every server may send, cut anywhere, too large, or one inside another."""

import gzip
import zlib
from collections.abc import Callable
from functools import reduce

import brotli
import pytest
import zstandard

from lycosa.decode import DECODERS, Incomplete, TooLarge, decode

PAGE = b"<p>wolf spiders " * 500
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def test_every_decoder_has_an_encoder_here() -> None:
    assert ENCODERS.keys() == DECODERS.keys()


@pytest.mark.parametrize("name", ENCODERS)
def test_a_whole_body_is_decoded_and_the_limit_is_exact(name: str) -> None:
    packed = ENCODERS[name](PAGE)
    assert decode(packed, f" {name.upper()} , identity", len(PAGE)) == PAGE
    with pytest.raises(TooLarge) as caught:
        decode(packed, name, len(PAGE) - 1)
    assert caught.value.start == PAGE[:-1]


@pytest.mark.parametrize("name", ENCODERS)
def test_a_truncated_body_is_never_taken_for_a_whole_one(name: str) -> None:
    packed = ENCODERS[name](PAGE)
    for end in range(1, len(packed)):
        with pytest.raises((Incomplete, ValueError)) as caught:
            decode(packed[:end], name, 1_000_000)
        assert PAGE.startswith(getattr(caught.value, "start", b""))


@pytest.mark.parametrize("name", ENCODERS)
def test_noise_is_damaged(name: str) -> None:
    with pytest.raises((Incomplete, ValueError)):
        decode(b"<html>no encoding at all", name, 1_000_000)


def test_encodings_are_undone_last_one_first() -> None:
    assert decode(brotli.compress(gzip.compress(PAGE)), "gzip, br", 1_000_000) == PAGE


def test_the_start_of_an_outer_encoding_is_not_the_start_of_the_body() -> None:
    packed = gzip.compress(gzip.compress(PAGE))
    with pytest.raises(Incomplete) as caught:
        decode(packed[:-20], "gzip, gzip", 1_000_000)
    assert caught.value.start == b""


def test_an_unknown_encoding_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown content encoding 'rot13'"):
        decode(PAGE, "rot13", 1_000_000)


def test_a_body_encoded_hundreds_of_times_is_refused() -> None:
    times = 300
    packed = reduce(lambda body, _: gzip.compress(body, 0), range(times), PAGE)
    with pytest.raises(ValueError, match="too many"):
        decode(packed, ",".join(["gzip"] * times), 10_000_000)


def test_an_empty_body_is_empty_in_every_encoding() -> None:
    assert all(decode(b"", name, 10) == b"" for name in DECODERS)
