"""The topic map given back: nothing of it lost, every page in it, and readable again."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lycosa import ontology
from lycosa.ontology.xtm import read_pages, read_subjects
from lycosa.output import xtm
from lycosa.output.subjects import Found
from lycosa.types import BadInput

CARS = Path(__file__).parents[1] / "ontology" / "cars"
PAGES = [
    ("http://a.example/", "Toyota & <Corolla>", 0.439024),
    ("http://b.example/?a=1&b='2'", "Toyota & <Corolla>", 0.02),
    ("http://c.example/ü", "", 1.0),
    ("http://d.example/", 'bell \x07, "quotes" \ufffe and\nlines', 1e-7),
]
BACK = [
    ("http://a.example/", "Toyota & <Corolla>", 0.439024),
    ("http://b.example/?a=1&b='2'", "Toyota & <Corolla>", 0.02),
    ("http://c.example/ü", "http://c.example/ü", 1.0),
    ("http://d.example/", 'bell , "quotes" and lines', 1e-7),
]


def export(source, pages, out):
    return xtm.export(source, ontology.read(source), (Found(*page) for page in pages), out)


@pytest.mark.parametrize("name", ["cars-1.xtm", "cars.xtm", "cars.ttl", "cars.rdf", "cars.jsonld"])
def test_pages_and_concepts_come_back(tmp_path, name):
    out = tmp_path / "out.xtm"
    assert export(CARS / name, iter(PAGES), out) == 4
    assert list(read_pages(out)) == BACK
    before, after = ontology.read(CARS / name), ontology.read(out)
    assert list(after) == list(before)
    assert set(after.associations) == set(before.associations)
    assert [path.name for path in tmp_path.iterdir()] == ["out.xtm"]


@pytest.mark.parametrize("name", ["cars-1.xtm", "cars.xtm"])
def test_a_topic_map_is_kept_to_the_byte(tmp_path, name):
    export(CARS / name, PAGES, tmp_path / "out.xtm")
    whole, end = (CARS / name).read_bytes(), b"</topicMap>\n"
    assert (tmp_path / "out.xtm").read_bytes().startswith(whole.removesuffix(end))
    assert (tmp_path / "out.xtm").read_bytes().endswith(end)


def test_each_page_is_one_topic_with_two_occurrences(tmp_path):
    export(CARS / "cars.xtm", PAGES, tmp_path / "out.xtm")
    space = "{http://www.topicmaps.org/xtm/}"
    pages = [topic for topic in ElementTree.parse(tmp_path / "out.xtm").getroot() if topic.get("id", "")[-1:].isdigit()]
    assert len(pages) == 4
    assert [len(topic.findall(f"{space}occurrence")) for topic in pages] == [2, 2, 2, 2]
    assert pages[0].find(f"{space}occurrence/{space}resourceRef").get("href") == "http://a.example/"
    assert pages[0].find(f"{space}occurrence/{space}resourceData").text == "0.439024"


def test_in_xtm_1_pages_of_one_title_have_scopes_of_their_own(tmp_path):
    export(CARS / "cars-1.xtm", PAGES[:2], tmp_path / "out.xtm")
    assert (tmp_path / "out.xtm").read_text().count('<scope><topicRef xlink:href="#lycosa-') == 2


def test_a_map_with_pages_can_take_more(tmp_path):
    export(CARS / "cars.xtm", PAGES[:1], tmp_path / "one.xtm")
    export(tmp_path / "one.xtm", PAGES[1:2], tmp_path / "two.xtm")
    assert list(read_pages(tmp_path / "two.xtm")) == BACK[:2]
    assert len(ontology.read(tmp_path / "two.xtm")) == 7
    ids = [topic.get("id") for topic in ElementTree.parse(tmp_path / "two.xtm").getroot()]
    named = [id for id in ids if id]
    assert len(named) == len(set(named))


def test_the_output_may_be_the_source(tmp_path):
    path = tmp_path / "cars.xtm"
    path.write_bytes((CARS / "cars.xtm").read_bytes())
    export(path, PAGES, path)
    assert list(read_pages(path)) == BACK


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "us-ascii"])
def test_the_encoding_of_the_map_is_kept(tmp_path, encoding):
    text = (CARS / "cars.xtm").read_text().replace('encoding="utf-8"', f'encoding="{encoding}"')
    (tmp_path / "in.xtm").write_bytes(text.encode(encoding))
    export(tmp_path / "in.xtm", [*PAGES, ("http://e.example/", "雨 ü", 0.5)], tmp_path / "out.xtm")
    assert list(read_pages(tmp_path / "out.xtm")) == [*BACK, ("http://e.example/", "雨 ü", 0.5)]


@pytest.mark.parametrize("link", ["xlink", "l"])
def test_prefixes_of_the_map_are_kept(tmp_path, link):
    head = f'<t:topicMap xmlns:t="http://www.topicmaps.org/xtm/1.0/" xmlns:{link}="http://www.w3.org/1999/xlink">'
    topic = '<t:topic id="a"><t:baseName><t:baseNameString>A</t:baseNameString></t:baseName></t:topic>'
    (tmp_path / "in.xtm").write_text(f"{head}{topic}</t:topicMap>")
    export(tmp_path / "in.xtm", PAGES, tmp_path / "out.xtm")
    assert list(read_pages(tmp_path / "out.xtm")) == BACK
    assert [one.id for one in ontology.read(tmp_path / "out.xtm")] == ["a"]


def test_no_pages_no_difference(tmp_path):
    assert export(CARS / "cars.xtm", [], tmp_path / "out.xtm") == 0
    assert list(read_pages(tmp_path / "out.xtm")) == []
    assert len(ontology.read(tmp_path / "out.xtm")) == 7


def test_a_failure_half_way_leaves_what_was_there(tmp_path):
    def failing():
        yield PAGES[0]
        raise RuntimeError

    out = tmp_path / "out.xtm"
    out.write_text("old")
    with pytest.raises(RuntimeError):
        export(CARS / "cars.xtm", failing(), out)
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.xtm"]


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"no/out\.xtm: no such folder"):
        export(CARS / "cars.xtm", PAGES, tmp_path / "no" / "out.xtm")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('<topicMap xmlns="http://www.topicmaps.org/xtm/" version="2.0"/>', "in.xtm: contains no topic with a name"),
        ("<topicMap>\n<topic>\n</topicMap>", "in.xtm:3: mismatched tag"),
        ('<!DOCTYPE topicMap [<!ENTITY a "b">]><topicMap>&a;</topicMap>', "with declarations is refused"),
        ("<html/>", "neither a topic map nor RDF/XML"),
    ],
)
def test_a_source_that_is_no_map(tmp_path, content, problem):
    (tmp_path / "in.xtm").write_text(content)
    with pytest.raises(BadInput, match=problem):
        export(tmp_path / "in.xtm", PAGES, tmp_path / "out.xtm")
    assert not (tmp_path / "out.xtm").exists()


def test_thousands_of_pages_stream(tmp_path):
    pages = ((f"http://h{n % 97}.example/{n}", f"Page {n}", n / 5_000) for n in range(5_000))
    assert export(CARS / "cars.xtm", pages, tmp_path / "out.xtm") == 5_000
    assert sum(1 for _ in read_pages(tmp_path / "out.xtm")) == 5_000


ABOUT = [
    Found("http://a.example/", "A", 0.4, {"corolla": 0.3, "toyota": 0.1}),
    Found("http://b.example/", "B", 0.2),
    Found("http://c.example/", "C", 0.2, {"toyota": 0.2}),
]


@pytest.mark.parametrize("name", ["cars-1.xtm", "cars.xtm", "cars.ttl"])
def test_pages_are_linked_to_the_concepts_found_on_them(tmp_path, name):
    out = tmp_path / "out.xtm"
    export(CARS / name, ABOUT, out)
    assert list(read_subjects(out)) == [
        ("http://a.example/", "corolla"),
        ("http://a.example/", "toyota"),
        ("http://c.example/", "toyota"),
    ]
    before, after = ontology.read(CARS / name), ontology.read(out)
    assert set(after.associations) == set(before.associations)
    assert list(after) == list(before)


@pytest.mark.parametrize("name", ["cars-1.xtm", "cars.xtm"])
def test_another_reader_finds_the_pages_about_a_concept(tmp_path, name):
    export(CARS / name, ABOUT, tmp_path / "out.xtm")
    tree = ElementTree.parse(tmp_path / "out.xtm").getroot()
    references = [
        [href for one in bond.iter() for key, href in one.attrib.items() if key.endswith("href")]
        for bond in tree
        if bond.tag.endswith("association")
    ]
    about = [found[0] == "#lycosa-about" and found[2] for found in references if "#toyota" in found]
    assert [page for page in about if page] == ["#lycosa-1", "#lycosa-3"]


def test_ids_that_xml_cannot_have_are_the_same_in_topics_and_links(tmp_path):
    (tmp_path / "in.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x.example/a/1> a skos:Concept ; skos:prefLabel "One" .\n'
        '<http://x.example/b/1> a skos:Concept ; skos:prefLabel "Other" .\n'
    )
    export(
        tmp_path / "in.ttl", [Found("http://p.example/", "P", 0.5, {"http://x.example/b/1": 0.5})], tmp_path / "o.xtm"
    )
    ((page, id),) = read_subjects(tmp_path / "o.xtm")
    assert page == "http://p.example/"
    tree = ElementTree.parse(tmp_path / "o.xtm").getroot()
    (topic,) = (one for one in tree if one.get("id") == id)
    assert topic.find(".//{*}value").text == "Other"
