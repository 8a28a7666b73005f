"""RDF from anyone: nothing is fetched, nothing expands, and what is wrong is one line."""

import socket
import sys
import threading

import pytest

from lycosa.ontology import triples as module
from lycosa.ontology.concepts import Name
from lycosa.ontology.triples import triples
from lycosa.types import BadInput

RDF_HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/">'


@pytest.fixture
def read(tmp_path):
    def write(content, syntax="turtle"):
        path = tmp_path / "some.rdf"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return triples(path, syntax)

    return write


@pytest.fixture
def no_network(monkeypatch):
    """Every attempt to reach a host is noted."""
    asked = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: asked.append(where) or [])
    monkeypatch.setattr(socket.socket, "connect", lambda _, where: asked.append(where))
    return asked


def test_statements_become_plain_data(read):
    found = read('<a:s> <a:p> <a:o>, "text"@EN-gb, "two\\nlines", 7 .')
    assert {subject for subject, _, _ in found} == {"a:s"}
    assert {property for _, property, _ in found} == {"a:p"}
    assert {object for _, _, object in found} == {"a:o", Name("text", "en-gb"), Name("two lines"), Name("7")}


def test_blank_nodes_are_marked(read):
    ((subject, _, object),) = read("[] <a:p> [] .")
    assert subject.startswith("_:")
    assert object.startswith("_:")


def test_named_graphs_are_read_too(read):
    assert read("<a:g> { <a:s> <a:p> <a:o> }", "trig") == [("a:s", "a:p", "a:o")]
    assert read("<a:s> <a:p> <a:o> <a:g> .", "nquads") == [("a:s", "a:p", "a:o")]
    graph = '{"@graph": [{"@id": "a:g", "@graph": [{"@id": "a:s", "a:p": {"@id": "a:o"}}]}]}'
    assert read(graph, "json-ld") == [("a:s", "a:p", "a:o")]


@pytest.mark.parametrize(
    ("content", "syntax", "problem"),
    [
        ("<a:s> <a:p> <a:o> .\n<a:s> <a:p> ] .", "turtle", "some.rdf:2: not turtle: "),
        ("<a:s> <a:p> <a:o> .\nx:y a x:z .", "turtle", r"some.rdf:2: not turtle: Prefix \"x:\" not bound"),
        ("<a:s> <a:p> <a:o> .\nnonsense\n", "nt", "some.rdf: not nt: Invalid line: nonsense"),
        (f"{RDF_HEAD}\n<x:a>\n</rdf:RDF>", "xml", "some.rdf:3: not xml: mismatched tag"),
        (f"{RDF_HEAD}\n<rdf:li/></rdf:RDF>", "xml", "some.rdf:2: not xml: Invalid node element"),
        ('{"a":\n x}', "json-ld", "some.rdf:2: not JSON: Expecting value"),
        ('{"@context": 5}', "json-ld", "some.rdf: not json-ld: "),
        (b"\xff\xfe\x00", "json-ld", "some.rdf: not "),
        (b"<a:s> <a:p> '\xff' .", "turtle", "some.rdf: not turtle: "),
        ("[<a:p> " * 2000, "turtle", "some.rdf: nested too deeply"),
        ("[" * 100_000, "json-ld", "some.rdf: nested too deeply"),
    ],
)
def test_what_does_not_parse_is_one_line_with_the_place(read, content, syntax, problem):
    with pytest.raises(BadInput, match=problem) as caught:
        read(content, syntax)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "content",
    [
        '{"@context": "http://127.0.0.1:9/context.jsonld", "@id": "a:s"}',
        '{"@context": ["context.jsonld", {}], "@id": "a:s"}',
        '{"@context": {"@import": "http://127.0.0.1:9/"}, "@id": "a:s"}',
        '{"@context": {"t": {"@id": "a:t", "@context": "http://127.0.0.1:9/"}}, "t": {"@id": "a:s"}}',
        '[{"@id": "a:s", "a:p": {"@context": "http://127.0.0.1:9/", "@id": "a:o"}}]',
        '{"@context": [["http://127.0.0.1:9/"]], "@id": "a:s"}',
        '{"@context": [[[{"@context": [["http://127.0.0.1:9/"]]}]]], "@id": "a:s"}',
        '{"@context": {"t": {"@id": "a:t", "@context": [["http://127.0.0.1:9/"]]}}, "t": {"@id": "a:s"}}',
        '{"@context": {"T": {"@id": "a:T", "@context": [["http://127.0.0.1:9/"]]}}, "@type": "T"}',
        '{"@context": {"T": {"@id": "a:T", "@context": {"@import": "http://127.0.0.1:9/"}}}, "@type": "T"}',
        '[{"@context": null, "@id": "a:s", "a:p": {"@context": [["http://127.0.0.1:9/"]], "@id": "a:o"}}]',
        '{"@context": [["context.jsonld"]], "@id": "a:s"}',
        '{"@context": [["file:///etc/hostname"]], "@id": "a:s"}',
        '{"@context": [["FOLDER/context.jsonld"]], "@id": "a:s", "p": "opened"}',
        '{"@context": {"t": {"@id": "a:t", "@context": ["FOLDER/context.jsonld"]}}, "t": {"@id": "a:s"}}',
    ],
)
def test_contexts_are_never_fetched_and_no_file_is_opened(read, no_network, tmp_path, content):
    (tmp_path / "context.jsonld").write_text('{"@context": {"p": "a:p"}}')
    with pytest.raises(BadInput, match="is not fetched; write it into the file"):
        read(content.replace("FOLDER", tmp_path.as_uri()), "json-ld")
    assert no_network == []


def test_contexts_in_the_file_itself_are_understood(read):
    content = """{"@context": [{"p": "a:p"}, [{"T": {"@id": "a:T", "@context": {"q": "a:q"}}}]],
        "@id": "a:s", "p": "one", "a:r": {"@id": "a:o", "@type": "T", "q": "two"},
        "a:n": {"@context": null, "@id": "a:n", "p": "lost", "a:p": {"@context": {"x": "a:x"}, "x": "three"}}}"""
    found = {(property, object) for _, property, object in read(content, "json-ld") if isinstance(object, Name)}
    assert found == {("a:p", Name("one")), ("a:q", Name("two")), ("a:x", Name("three"))}


def test_rdflib_itself_fetches_as_before(read):
    from rdflib.plugins.parsers import jsonld
    from rdflib.plugins.shared.jsonld import context

    before = context.source_to_json, context.Context._fetch_context, jsonld.Context, jsonld.Parser._add_to_graph
    read('{"@context": {"p": "a:p"}, "@id": "a:s", "p": "x"}', "json-ld")
    after = context.source_to_json, context.Context._fetch_context, jsonld.Context, jsonld.Parser._add_to_graph
    assert before == after


def test_entities_are_refused(read):
    with pytest.raises(BadInput, match="DOCTYPE with declarations is refused"):
        read(f'<!DOCTYPE rdf:RDF [<!ENTITY x "y">]>{RDF_HEAD}<x:a x:b="&x;"/></rdf:RDF>', "xml")


def test_nothing_a_file_names_is_fetched(read, no_network):
    rdf = f'<!DOCTYPE rdf:RDF SYSTEM "http://127.0.0.1:9/a.dtd">{RDF_HEAD}<x:a rdf:about="http://127.0.0.1:9/"/></rdf:RDF>'
    assert len(read(rdf, "xml")) == 1
    assert len(read("@base <http://127.0.0.1:9/> . <a> <http://www.w3.org/2002/07/owl#imports> <b> .")) == 1
    assert no_network == []


def test_a_small_number_is_not_written_out_as_a_long_one(read):
    number = '"1e999999999"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    assert read(f"<a:s> <a:p> {number} .") == [("a:s", "a:p", Name("1e999999999"))]


def test_the_settings_of_rdflib_are_left_as_they_were(read):
    import rdflib

    read("<a:s> <a:p> 1 .")
    with pytest.raises(BadInput):
        read("nonsense")
    assert rdflib.NORMALIZE_LITERALS is True


def test_without_rdflib_it_says_what_to_install(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(BadInput, match=r"some\.rdf: reading RDF needs: pip install 'lycosa\[ontology\]'"):
        read("<a:s> <a:p> <a:o> .")


def test_two_threads_leave_the_switch_of_rdflib_as_it_was(tmp_path, monkeypatch):
    """The first to begin is also the first to end: without a lock, the second would restore what the first had set."""
    import rdflib

    path = tmp_path / "some.ttl"
    path.write_text("<a:s> <a:p> <a:o> .")
    begun, may_end, fill = threading.Event(), threading.Event(), module._fill
    inside = []

    def slow(graph, *arguments):
        inside.append(threading.current_thread().name)
        begun.set()
        may_end.wait(30)
        fill(graph, *arguments)

    monkeypatch.setattr(module, "_fill", slow)
    readers = [threading.Thread(target=triples, args=(path, "turtle"), name=name) for name in ("first", "second")]
    readers[0].start()
    begun.wait(30)
    readers[1].start()
    assert inside == ["first"]
    assert module._one_at_a_time.locked()
    may_end.set()
    for reader in readers:
        reader.join(30)
    assert inside == ["first", "second"]
    assert rdflib.NORMALIZE_LITERALS is True
