"""XML from anyone: what is read, and what is refused before it can do harm."""

import pytest

from lycosa.ontology import safe_xml
from lycosa.types import BadInput

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
 <!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">
]>
<lolz>&lol3;</lolz>"""


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "some.xml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def everything(path):
    return [(child.tag, "".join(child.itertext())) for child in safe_xml.children(path)]


@pytest.mark.parametrize(
    "content",
    [
        LAUGHS,
        LAUGHS.encode("utf-16"),
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]><a/>',
        "<!DOCTYPE a []><a/>",
    ],
    ids=["billion laughs", "in UTF-16", "external entity", "parameter entity", "empty subset"],
)
def test_declarations_in_a_doctype_are_refused_with_their_line(file, content):
    path = file(content)
    for read in (safe_xml.root, everything):
        with pytest.raises(BadInput, match=r"some\.xml:\d: a DOCTYPE with declarations is refused"):
            read(path)


def test_an_encoding_that_hides_the_declarations_does_not_help(file):
    head = b'<?xml version="1.0" encoding="cp037"?>'
    with pytest.raises(BadInput):
        safe_xml.root(file(head + LAUGHS.split("\n", 1)[1].encode("cp037")))


def test_a_doctype_that_only_names_its_dtd_is_read_and_the_dtd_is_not(file):
    path = file('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/never-asked.dtd"><a><b>c</b></a>')
    assert safe_xml.root(path) == ("", "a")
    assert everything(path) == [("b", "c")]


def test_entities_nobody_declared_are_an_error(file):
    with pytest.raises(BadInput, match="undefined entity"):
        everything(file('<!DOCTYPE a SYSTEM "x.dtd"><a><b>&nbsp;</b></a>'))


def test_the_root_tells_its_namespace(file):
    assert safe_xml.root(file('<x:a xmlns:x="urn:n"/>')) == ("urn:n", "a")


def test_children_lose_their_namespace_and_keep_their_content(file):
    path = file('<a xmlns="urn:n"><b>1</b> <c><d>2</d>3</c><!-- no --><b/></a>')
    assert everything(path) == [("b", "1"), ("c", "23"), ("b", "")]


def test_attributes_stay_as_they_are(file):
    (child,) = safe_xml.children(file('<a xmlns:x="urn:x"><b x:c="1" d="2"/></a>'))
    assert child.attrib == {"{urn:x}c": "1", "d": "2"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "some.xml:1: no element found"),
        ("plain text", "some.xml:1: syntax error"),
        ("<a>\n<b>\n</a>", "some.xml:3: mismatched tag"),
        ("<a>\n", "some.xml:2: no element found"),
        (b'<?xml version="1.0" encoding="no-such"?><a/>', "unknown encoding"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', "multi-byte encodings are not supported"),
        (b"<a>\n<b>\xff</b></a>", "some.xml:2: not well-formed"),
        ("<a>" * 51 + "</a>" * 51, "nested deeper than 50"),
        ("<a>" * 100_000, "nested deeper than 50"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_place(file, content, problem):
    with pytest.raises(BadInput, match=problem) as caught:
        everything(file(content))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_huge_one(tmp_path, file):
    with pytest.raises(BadInput, match="no such file"):
        safe_xml.size_checked(tmp_path / "none.xtm")
    with pytest.raises(BadInput, match="no such file"):
        safe_xml.size_checked(tmp_path)
    with pytest.raises(BadInput, match="larger than 0 MB"):
        safe_xml.size_checked(file("<a/>"), 3)


def test_a_file_of_many_chunks_is_read_whole(file, monkeypatch):
    monkeypatch.setattr(safe_xml, "_CHUNK", 7)
    path = file("<a>" + "".join(f"<b>{number}</b>" for number in range(100)) + "</a>")
    assert everything(path) == [("b", str(number)) for number in range(100)]


@pytest.mark.parametrize("content", ['<a><b c="' + "x" * 200, "<a><b>" + "x" * 200, "<!--" + "x" * 200 + "--><a/>"])
def test_a_tag_that_does_not_end_is_refused_before_it_costs_much(file, monkeypatch, content):
    monkeypatch.setattr(safe_xml, "_CHUNK", 10)
    monkeypatch.setattr(safe_xml, "_MOST_SILENT", 100)
    with pytest.raises(BadInput, match=r"without a tag|some\.xml:1: (unclosed token|no element found)"):
        everything(file(content))
