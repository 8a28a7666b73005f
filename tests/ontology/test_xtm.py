"""The two notations of topic maps, element by element."""

import pytest

from lycosa.ontology import xtm
from lycosa.ontology.concepts import Association, Name
from lycosa.types import BadInput

HEAD_1 = '<topicMap xmlns="http://www.topicmaps.org/xtm/1.0/" xmlns:xlink="http://www.w3.org/1999/xlink">'
HEAD_2 = '<topicMap xmlns="http://www.topicmaps.org/xtm/" version="2.0">'
ONE_1 = '<topic id="{0}"><baseName><baseNameString>{0}</baseNameString></baseName></topic>'
ONE_2 = '<topic id="{0}"><name><value>{0}</value></name></topic>'


@pytest.fixture
def file(tmp_path):
    def write(head, *parts):
        path = tmp_path / "some.xtm"
        path.write_text("\n".join([head, *parts, "</topicMap>"]), encoding="utf-8")
        return path

    return write


def test_names_of_all_kinds_in_xtm_1(file):
    path = file(
        HEAD_1,
        """<topic id="t">
          <baseName>
            <baseNameString> Topic
               map </baseNameString>
            <variant><variantName><resourceData>TM</resourceData></variantName>
              <variant><variantName><resourceData>tm</resourceData></variantName></variant></variant>
            <variant><variantName><resourceRef xlink:href="tm.png"/></variantName></variant>
          </baseName>
          <baseName><scope><topicRef xlink:href="#no"/></scope><baseNameString>emnekart</baseNameString></baseName>
          <baseName><baseNameString> </baseNameString></baseName>
        </topic>""",
    )
    assert xtm.read(path)["t"].names == (Name("Topic map"), Name("emnekart", "no"), Name("TM"), Name("tm"))


def test_names_of_all_kinds_in_xtm_2(file):
    path = file(
        HEAD_2,
        """<topic id="t">
          <name><type><topicRef href="#formal"/></type><value>Topic map</value>
            <variant><scope><topicRef href="#de"/></scope><resourceData>Themenkarte</resourceData></variant>
            <variant><scope><topicRef href="http://psi.topicmaps.org/iso13250/model/sort"/></scope>
              <resourceData>map, topic</resourceData></variant>
          </name>
          <name><value>TM</value></name>
        </topic>""",
        ONE_2.format("formal"),
    )
    found = xtm.read(path)
    assert found["t"].names == (Name("Topic map"), Name("TM"), Name("Themenkarte", "de"))
    assert "formal" not in found


def test_xtm_2_1_refers_in_other_ways_too(file):
    path = file(
        HEAD_2.replace("2.0", "2.1"),
        '<topic><itemIdentity href="#a"/><name><value>A</value></name></topic>',
        '<topic><subjectIdentifier href="http://x.example/b"/><name><value>B</value></name></topic>',
        '<topic><subjectLocator href="http://x.example/c"/><name><value>C</value></name></topic>',
        """<association><type><subjectIdentifierRef href="http://x.example/meets"/></type>
           <role><type><topicRef href="#r"/></type><topicRef href="#a"/></role>
           <role><type><topicRef href="#r"/></type><subjectIdentifierRef href="http://x.example/b"/></role>
           <role><type><topicRef href="#r"/></type><subjectLocatorRef href="http://x.example/c"/></role></association>""",
    )
    found = xtm.read(path)
    assert found.associations == (Association("meets", ("a", "http://x.example/b", "http://x.example/c")),)


def test_a_reference_to_another_file_leads_nowhere_and_merge_map_is_not_followed(file):
    path = file(
        HEAD_2,
        '<mergeMap href="http://127.0.0.1:9/other.xtm"/>',
        ONE_2.format("a"),
        ONE_2.format("b"),
        """<association><type><topicRef href="#k"/></type>
           <role><type><topicRef href="#r"/></type><topicRef href="some.xtm#a"/></role>
           <role><type><topicRef href="#r"/></type><topicRef href="other.xtm#b"/></role></association>""",
    )
    found = xtm.read(path)
    assert [one.id for one in found] == ["a", "b"]
    assert found.associations == ()


def test_topics_may_be_instances_in_both_versions(file):
    one = ONE_1.format("car") + '<topic id="x"><instanceOf><topicRef xlink:href="#car"/></instanceOf>{}</topic>'
    path = file(HEAD_1, one.format("<baseName><baseNameString>X</baseNameString></baseName>"))
    assert xtm.read(path).associations == (Association("instance of", ("car", "x")),)
    two = ONE_2.format("car") + '<topic id="x"><instanceOf><topicRef href="#car"/></instanceOf>{}</topic>'
    path = file(HEAD_2, two.format("<name><value>X</value></name>"))
    assert xtm.read(path).associations == (Association("instance of", ("car", "x")),)


def test_a_prefix_for_the_namespace_makes_no_difference(tmp_path):
    path = tmp_path / "p.xtm"
    path.write_text(
        '<x:topicMap xmlns:x="http://www.topicmaps.org/xtm/" version="2.0">'
        '<x:topic id="a"><x:name><x:value>A</x:value></x:name></x:topic></x:topicMap>'
    )
    assert xtm.read(path)["a"].label == "A"


def test_elements_nobody_knows_are_skipped(file):
    found = xtm.read(file(HEAD_2, "<new><topic/></new>", '<topic id="a"><new/><name><value>A</value></name></topic>'))
    assert [one.id for one in found] == ["a"]


def test_ten_thousand_topics_are_read_in_the_order_of_the_file(file):
    path = file(HEAD_2, *(ONE_2.format(f"t{number}") for number in range(10_000)))
    assert [one.id for one in xtm.read(path)] == [f"t{number}" for number in range(10_000)]


def test_a_map_without_pages_has_no_pages(file):
    assert list(xtm.read_pages(file(HEAD_2, ONE_2.format("a")))) == []


def test_a_relevance_that_is_no_number_is_said(file):
    kinds = "".join(
        f'<topic id="{name}"><subjectIdentifier href="urn:x-lycosa:{name}"/></topic>' for name in ("page", "relevance")
    )
    page = """<topic id="p1"><instanceOf><topicRef href="#page"/></instanceOf><occurrence>
        <type><topicRef href="#relevance"/></type><resourceData>much</resourceData></occurrence></topic>"""
    with pytest.raises(BadInput, match=r"some\.xtm: a relevance is not a number: 'much'"):
        list(xtm.read_pages(file(HEAD_2, kinds, page)))
