"""Convert a page to UTF-8, whatever its encoding; wrong labels and broken bytes never raise.

Order: byte order mark; UTF-8 if all bytes fit it (text in another encoding hardly ever does by accident, and a label is
wrong far more often than that); the label of the header, then of the page itself; a guess.
"""

import re
from encodings.aliases import aliases

_HEAD_BYTES = 4096  # labels further down are ignored
_SAMPLE_BYTES = 65_536  # enough to guess from
_ASCII = bytes(range(128))
_lonely = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])").findall
_in_header = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';]+)", re.IGNORECASE).search
_in_page = re.compile(
    rb"<meta[^>]{1,500}?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)|^\s*<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([^\"'>]+)",
    re.IGNORECASE,
).search

# Labels are looked up here, not among Python's codecs: some of those are not encodings, and some are dangerous.
_NAMES = """
    ascii latin_1 utf_8 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp866 cp874 koi8_r koi8_u
    iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13
    iso8859_14 iso8859_15 iso8859_16 mac_roman mac_cyrillic gb2312 gbk gb18030 big5 big5hkscs euc_jp shift_jis cp932
    iso2022_jp euc_kr cp949 utf_16 utf_16_le utf_16_be tis_620
""".split()
_WIDER = {  # what pages mean when they use the narrower name
    "ascii": "cp1252",
    "latin_1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "utf_16": "utf_8",  # if we could read the label, the page is not in UTF-16
    "utf_16_le": "utf_8",
    "utf_16_be": "utf_8",
}
_CODECS = {alias: codec for alias, codec in aliases.items() if codec in _NAMES} | {name: name for name in _NAMES}
_CODECS |= {"x_sjis": "cp932", "x_gbk": "gb18030", "x_euc_jp": "euc_jp", "ks_c_5601_1987": "cp949", "utf8": "utf_8"}

_SCRIPTS = (  # codec, the range of characters that identifies it, and their minimum share
    ("euc_jp", "\u3040", "\u30ff", 0.1),
    ("cp932", "\u3040", "\u30ff", 0.1),
    ("cp949", "\uac00", "\ud7a3", 0.5),
    ("gb2312", "\u4e00", "\u9fff", 0.5),
    ("big5", "\u4e00", "\u9fff", 0.5),
    ("koi8_r", "\u0430", "\u044f", 0.6),
    ("cp1251", "\u0430", "\u044f", 0.6),
)


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """The body in UTF-8, without byte order mark; unchanged if it already is."""
    if body[:3] == b"\xef\xbb\xbf":
        return body[3:]
    codec = _wide(body)
    if not codec:
        if b"\x1b" in body and b"\x1b$" in body and (declared(body, content_type) or "iso2022_jp") == "iso2022_jp":
            codec = "iso2022_jp"  # seven-bit, so it would pass for UTF-8
        elif _is_utf8(body):
            return body
        else:
            codec = declared(body, content_type) or guess(body)
    if codec == "utf_8" and not _nearly_utf8(body):
        codec = "cp1252"
    return body.decode(codec, "replace").encode()


def declared(body: bytes, content_type: str) -> str:
    """The codec named by header or page; empty if neither names a known one."""
    found = _in_header(content_type)
    codec = _codec(found[1]) if found else ""
    if codec:
        return codec
    inside = _in_page(body[:_HEAD_BYTES])
    return _codec((inside[1] or inside[2]).decode("ascii", "replace")) if inside else ""


def _codec(label: str) -> str:
    codec = _CODECS.get(label.strip().lower().replace("-", "_").replace(" ", "_"), "")
    return _WIDER.get(codec, codec)


def _wide(body: bytes) -> str:
    """Detect UTF-16 by its byte order mark, or by a zero next to the first character, `<` or a space."""
    first = body[:2]
    if first == b"\xff\xfe" or (first[1:] == b"\0" and first[0] in b"< \r\n\t"):
        return "utf_16" if first == b"\xff\xfe" else "utf_16_le"
    if first == b"\xfe\xff" or (first[:1] == b"\0" and len(first) == 2 and first[1] in b"< \r\n\t"):
        return "utf_16" if first == b"\xfe\xff" else "utf_16_be"
    return ""


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _nearly_utf8(body: bytes) -> bool:
    """Is most of the non-ASCII part valid? Then the page is UTF-8 that was truncated or has a few broken bytes."""
    text = body.decode("utf-8", "replace")
    strange = text.count("\ufffd")
    return strange <= sum(char > "\x7f" for char in text) - strange


def guess(body: bytes) -> str:
    """The most likely codec of an unlabelled body that is not UTF-8: by script, otherwise Western European."""
    sample = body[:_SAMPLE_BYTES]
    alone = len(_lonely(sample))
    if alone * 2 >= len(sample.translate(None, _ASCII)):  # accented letters are isolated among Latin letters
        return "cp1252"
    for codec, first, last, least in _SCRIPTS:
        if _share(sample, codec, first, last) >= least:
            return _WIDER.get(codec, codec)
    return "cp1252"


def _share(sample: bytes, codec: str, first: str, last: str) -> float:
    """The share of non-ASCII characters in a range; zero if too many bytes are invalid in the codec."""
    foreign = [char for char in sample.decode(codec, "replace") if char > "\x7f"]
    if foreign.count("\ufffd") * 50 > len(foreign):
        return 0.0
    return sum(first <= char <= last for char in foreign) / max(1, len(foreign))
