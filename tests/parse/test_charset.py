"""Which bytes are which letters?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.parse.charset import declared, guess, to_utf8

RUSSIAN = "Волк и паук охотятся ночью в лесу"
JAPANESE = "\u3053\u308c\u306f\u65e5\u672c\u8a9e\u306e\u30da\u30fc\u30b8\u3067\u3059"
KOREAN = "\ud55c\uad6d\uc5b4 \ud398\uc774\uc9c0\uc785\ub2c8\ub2e4"
CHINESE = "\u8fd9\u662f\u4e00\u4e2a\u4e2d\u6587\u7f51\u9875"
TAIWANESE = "\u9019\u662f\u4e00\u500b\u4e2d\u6587\u7db2\u9801"
FRENCH = "No\u00ebl \u00e0 la fa\u00e7on du caf\u00e9 \u2013 d\u00e9j\u00e0 vu"
CZECH = "P\u0159\u00edli\u0161 \u017elu\u0165ou\u010dk\u00fd k\u016f\u0148"


def page(text: str) -> str:
    return f"<html><head><title>x</title></head><body class='main'><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "cp932"),
        (JAPANESE, "iso2022_jp"),
        (KOREAN, "cp949"),
        (CHINESE, "gb2312"),
        (TAIWANESE, "big5"),
        (FRENCH, "cp1252"),
        (CHINESE + RUSSIAN + FRENCH, "utf-8"),
        (CHINESE, "utf-16"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        (FRENCH, "utf-8-sig"),
    ],
)
def test_nobody_said_which(text: str, codec: str) -> None:
    assert to_utf8(page(text).encode(codec)).decode() == page(text)


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (CZECH, "iso8859-2", "ISO-8859-2"),
        (CZECH, "cp1250", "windows-1250"),
        (FRENCH, "cp1252", "iso-8859-1"),
        (FRENCH, "cp1252", "us-ascii"),
        (FRENCH, "cp1252", "Latin1"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "iso8859-5", "iso-8859-5"),
        (CHINESE, "gb18030", "GB2312"),
        (TAIWANESE, "big5", "Big5"),
        (JAPANESE, "cp932", "x-sjis"),
        (KOREAN, "cp949", "ks_c_5601-1987"),
        (JAPANESE, "iso2022_jp", "ISO-2022-JP"),
    ],
)
def test_header_or_page_say_which(text: str, codec: str, label: str) -> None:
    assert to_utf8(page(text).encode(codec), f"text/html; charset={label}").decode() == page(text)
    for meta in (
        f'<meta charset="{label}">',
        f"<META CHARSET={label}>",
        f"<meta http-equiv='Content-Type' content='text/html; charset={label}'>",
    ):
        assert to_utf8((meta + page(text)).encode(codec)).decode() == meta + page(text)
    xml = f"<?xml version='1.0' encoding='{label}'?>{page(text)}"
    assert to_utf8(xml.encode(codec)).decode() == xml


def test_the_header_is_heard_before_the_page() -> None:
    body = b"<meta charset=koi8-r>\xf0"
    assert to_utf8(body, 'text/html; charset="windows-1251"').endswith("\u0440".encode())
    assert to_utf8(body).endswith("\u041f".encode())


def test_what_is_utf8_is_utf8_whatever_the_label() -> None:
    body = page(FRENCH).encode()
    assert to_utf8(body, "text/html; charset=iso-8859-1") is body
    assert to_utf8(b"plain", "text/html; charset=utf-16") == b"plain"


def test_a_byte_order_mark_is_stronger_than_any_label() -> None:
    assert to_utf8(FRENCH.encode("utf-16"), "text/html; charset=koi8-r").decode() == FRENCH
    assert to_utf8(FRENCH.encode("utf-8-sig"), "text/html; charset=koi8-r").decode() == FRENCH


def test_broken_utf8_stays_utf8_if_most_of_it_is() -> None:
    body = page(RUSSIAN).encode() + b"\xe9 and \xff"
    assert RUSSIAN in to_utf8(body, "text/html; charset=utf-8").decode()


def test_what_only_claims_to_be_utf8_is_western() -> None:
    assert FRENCH in to_utf8(page(FRENCH).encode("cp1252"), "text/html; charset=utf-8").decode()


def test_a_cut_character_at_the_end_does_no_harm() -> None:
    assert to_utf8(f"{RUSSIAN}\u20ac".encode()[:-1], "text/html; charset=utf-8").decode() == f"{RUSSIAN}\ufffd"


@pytest.mark.parametrize("label", ["", "none", "utf-7", "rot13", "base64", "idna", "unicode_escape", "../x", "x" * 999])
def test_labels_we_do_not_know(label: str) -> None:
    assert declared(b"", f"text/html; charset={label}") == ""
    assert FRENCH in to_utf8(page(FRENCH).encode("cp1252"), f"text/html; charset={label}").decode()


def test_a_label_far_down_is_not_looked_for() -> None:
    assert declared(b" " * 5000 + b"<meta charset=koi8-r>", "") == ""
    assert declared(b" " * 3000 + b"<meta charset=koi8-r>", "") == "koi8_r"


@pytest.mark.parametrize(
    "body", [b"", b"\x00", b"<", b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe<", b"\x00<", b"<\x00"]
)
def test_the_shortest_bodies(body: bytes) -> None:
    to_utf8(body).decode()


@given(st.binary(), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "gb18030", "iso-2022-jp", "koi8-r", "big5"]))
def test_nothing_raises(body: bytes, label: str) -> None:
    to_utf8(body, f"text/html; charset={label}").decode("utf-8", "replace")
    guess(body)


@given(st.text())
def test_text_in_utf8_comes_back(text: str) -> None:
    body = ("<p>" + text).encode()
    if b"\x1b" not in body:
        assert to_utf8(body) == body
