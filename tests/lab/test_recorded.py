"""A recorded web answers by URL as the web did, whoever recorded it."""

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from lycosa.lab.recorded import RecordedWeb, page_labels, read_labels, start_urls
from lycosa.lab.serve import encode
from lycosa.store.warc import WarcWriter
from lycosa.types import BadInput, Exchange

A, B, C = "http://a.example/", "http://a.example/b", "http://c.example/c"


def body(web: RecordedWeb, url: str) -> bytes | None:
    answer = web.get(url)
    return answer.body if answer else None


class TestAnswers:
    def test_pages_redirects_and_failures(self, warcs: Any) -> None:
        web = warcs.web({A: "<p>one", B: warcs.moved("/c?x=1"), C: warcs.http(b"gone", "410 Gone")})
        page, redirect, failure = map(web.get, (A, B, C))
        assert (page.status, page.body, dict(page.headers)["content-type"]) == (200, b"<p>one", "text/html")
        assert (redirect.status, redirect.location) == (301, "http://a.example/c?x=1")
        assert (failure.status, failure.body) == (410, b"gone")

    def test_what_was_not_recorded(self, warcs: Any) -> None:
        web = warcs.web({A: "x"})
        assert web.get(B) is None
        assert B not in web
        assert A in web

    def test_addresses(self, warcs: Any) -> None:
        web = warcs.web({B: "x", A: "y"})
        assert (len(web), list(web.urls())) == (2, [B, A])

    def test_bodies_are_decoded(self, warcs: Any) -> None:
        packed = warcs.http(gzip.compress(b"<p>packed"), Content_Encoding="gzip", X_Robots_Tag="none")
        answer = warcs.web({A: packed}).get(A)
        assert answer
        assert answer.body == b"<p>packed"
        assert dict(answer.headers) == {"content-type": "text/html", "x-robots-tag": "none"}

    def test_pages_are_read_only_when_asked_for(self, warcs: Any) -> None:
        web = warcs.web({A: "x", B: "y"})
        web.paths[0].unlink()
        assert (len(web), web.page(A)) == (2, A)
        with pytest.raises(BadInput, match="No such file"):
            web.get(A)


class TestPlaces:
    @pytest.mark.parametrize("name", ["w.warc", "w.warc.gz"])
    def test_compressed_or_not(self, warcs: Any, name: str) -> None:
        web = warcs.web({A: "one", B: "two"}, name)
        assert (body(web, A), body(web, B)) == (b"one", b"two")

    def test_several_files(self, warcs: Any) -> None:
        web = RecordedWeb(warcs.pages("1.warc", {A: "one"}), warcs.pages("2.warc.gz", {B: "two"})).open()
        assert (body(web, A), body(web, B)) == (b"one", b"two")

    def test_a_folder(self, warcs: Any, tmp_path: Path) -> None:
        warcs.pages("1.warc", {A: "one"})
        warcs.pages("2.warc.gz", {B: "two"})
        (tmp_path / "notes.txt").write_text("no warc")
        for _ in range(2):  # the second time with the indexes lying there too
            assert list(RecordedWeb(tmp_path).open().urls()) == [A, B]

    def test_a_crawl_folder(self, tmp_path: Path) -> None:
        writer = WarcWriter(tmp_path / "warc", max_bytes=1)
        writer.open()
        for url, text in ((A, b"one"), (B, b"two")):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
            writer.write([Exchange(url, b"GET / HTTP/1.1\r\n\r\n", head, text, 1e9)])
        writer.close()
        web = RecordedWeb(tmp_path).open()
        assert len(list((tmp_path / "warc").glob("*.warc.gz"))) == 2
        assert (body(web, A), body(web, B)) == (b"one", b"two")
        writer.open()  # an index beside its files is no file of the crawl
        assert writer.position()[0] == "lycosa-00002.warc.gz"
        writer.close()

    def test_another_writer(self, tmp_path: Path) -> None:
        """With chunks, compression, and records of all kinds."""
        path = tmp_path / "other.warc.gz"
        with path.open("wb") as file:
            writer = WARCWriter(file, gzip=True)
            writer.write_record(writer.create_warcinfo_record("other.warc.gz", {"software": "other"}))
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
            page = writer.create_warc_record(A, "response", payload=BytesIO(b"<p>theirs"), http_headers=head)
            asked = writer.create_warc_record(A, "request", http_headers=StatusAndHeaders("GET / HTTP/1.0", []))
            writer.write_request_response_pair(asked, page)
            page.raw_stream.close()
        assert body(RecordedWeb(path).open(), A) == b"<p>theirs"

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="no WARC here"):
            RecordedWeb(tmp_path).open()
        with pytest.raises(BadInput, match="no such file or folder"):
            RecordedWeb(tmp_path / "none.warc").open()


class TestSeveralAnswers:
    def web(self, warcs: Any, *blocks: bytes) -> RecordedWeb:
        return RecordedWeb(warcs.write("w.warc.gz", *(warcs.record(A, block) for block in blocks))).open()

    def test_the_last_counts(self, warcs: Any) -> None:
        assert body(self.web(warcs, warcs.http(b"old"), warcs.http(b"new")), A) == b"new"

    def test_a_failure_does_not_hide_a_page(self, warcs: Any) -> None:
        busy, same = warcs.http(b"busy", "503 Busy"), warcs.http(b"", "304 Not Modified")
        assert body(self.web(warcs, busy, warcs.http(b"page"), busy, same), A) == b"page"

    def test_of_failures_the_last(self, warcs: Any) -> None:
        web = self.web(warcs, warcs.http(b"busy", "503 Busy"), warcs.http(b"gone", "410 Gone"))
        assert body(web, A) == b"gone"


class TestSchemes:
    SECURE = "https://a.example/"

    def test_the_other_scheme_leads_to_the_recorded_one(self, warcs: Any) -> None:
        web = warcs.web({A: "x"})
        answer = web.get(self.SECURE)
        assert answer
        assert (answer.status, answer.location, dict(answer.headers)) == (301, A, {"Location": A})
        assert web.resolve(self.SECURE) == web.page(self.SECURE) == A

    def test_and_the_other_way_round(self, warcs: Any) -> None:
        assert warcs.web({self.SECURE: "x"}).resolve(A) == self.SECURE

    def test_not_if_both_were_recorded(self, warcs: Any) -> None:
        web = warcs.web({A: "plain", self.SECURE: "secure"})
        assert (body(web, A), body(web, self.SECURE)) == (b"plain", b"secure")

    def test_not_if_told_so(self, warcs: Any) -> None:
        web = RecordedWeb(warcs.pages("w.warc", {A: "x"}), any_scheme=False).open()
        assert web.get(self.SECURE) is None


class TestRevisits:
    """Another address, or another day, brought the same page: recorded without its body."""

    def web(self, warcs: Any, revisit: bytes, **fields: str) -> RecordedWeb:
        page = warcs.record(A, warcs.http(b"page"), WARC_Payload_Digest="sha1:AAAA")
        other = warcs.record(C, warcs.http(b"other"), WARC_Payload_Digest="sha1:BBBB")
        return RecordedWeb(warcs.write("1.warc.gz", page, other), warcs.write("2.warc.gz", revisit)).open()

    @pytest.mark.parametrize(
        "fields",
        [
            {"WARC_Refers_To": f"<urn:test:response:{A}>"},
            {"WARC_Refers_To_Target_URI": A},
            {"WARC_Payload_Digest": "sha1:AAAA"},
            {"WARC_Refers_To": "<urn:test:lost>", "WARC_Payload_Digest": "sha1:aaaa"},
        ],
        ids=["by record", "by address", "by payload", "by what is left"],
    )
    def test_resolved(self, warcs: Any, fields: dict[str, str]) -> None:
        web = self.web(warcs, warcs.record(B, warcs.http(b""), "revisit", **fields))
        assert body(web, B) == b"page"
        assert web.page(B) == A

    def test_unresolved(self, warcs: Any) -> None:
        for fields in ({}, {"WARC_Refers_To": "<urn:test:lost>", "WARC_Refers_To_Target_URI": "http://lost/"}):
            web = self.web(warcs, warcs.record(B, warcs.http(b""), "revisit", **fields))
            assert B not in web

    def test_of_the_same_address(self, warcs: Any) -> None:
        again = warcs.record(A, warcs.http(b"", "304 Not Modified"), "revisit", WARC_Refers_To_Target_URI=A)
        assert body(self.web(warcs, again), A) == b"page"

    def test_another_writer(self, tmp_path: Path) -> None:
        path = tmp_path / "other.warc.gz"
        with path.open("wb") as file:
            writer = WARCWriter(file, gzip=True)
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            page = writer.create_warc_record(A, "response", payload=BytesIO(b"<p>theirs"), http_headers=head)
            writer.write_record(page)
            page.raw_stream.close()
            digest = page.rec_headers.get_header("WARC-Payload-Digest")
            writer.write_record(writer.create_revisit_record(B, digest, A, "2020-01-01T00:00:00Z"))
        assert body(RecordedWeb(path).open(), B) == b"<p>theirs"


class TestPages:
    def test_one_name_for_all_addresses_of_a_page(self, warcs: Any) -> None:
        index = "http://a.example/index.html"
        web = warcs.web({A: "same", index: "same", B: "other", C: warcs.moved(index)})
        assert [web.page(url) for url in (A, index, B, C)] == [A, A, B, A]
        assert web.pages() == [A, B]

    def test_what_is_no_page(self, warcs: Any) -> None:
        text = warcs.http(b"x", Content_Type="text/plain")
        web = warcs.web({A: text, B: warcs.http(b"x", "404 Not Found"), C: ""})
        assert [web.page(url) for url in (A, B, C, "http://lost/")] == ["", "", "", ""]
        assert web.pages() == []

    def test_redirects_that_never_end(self, warcs: Any) -> None:
        web = warcs.web({A: warcs.moved("/b"), B: warcs.moved("/"), C: warcs.moved("http://lost/")})
        assert [web.resolve(url) for url in (A, B, C)] == ["", "", ""]

    def test_labels_by_page(self, warcs: Any) -> None:
        index = "http://a.example/index.html"
        web = warcs.web({A: "same", index: "same", B: "other"})
        assert page_labels(web, {index: "home", B: "course", "http://lost/": "course"}) == {A: "home", B: "course"}
        assert page_labels(web, {A: "one", index: "two"}) == {A: "one"}
        assert page_labels(web, {index: "two", A: "one"}) == {A: "one"}


class TestServed:
    def test_as_a_site(self, warcs: Any) -> None:
        web = warcs.web({"https://a.example/": "secure", C: warcs.http(b"x", "302 Found", Location="/\u2192")})
        assert web.respond(A, {}).body == b"secure"
        assert web.respond("http://lost/", {}).status == 404
        assert "/\u2192".encode() in encode(web.respond(C, {}), packed=True).head


class TestGiven:
    def test_labels(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.tsv"
        path.write_text(f"{A}\tcourse\n\n{B}\tstudent\n")
        assert read_labels(path) == {A: "course", B: "student"}

    @pytest.mark.parametrize("line", ["no tab", "\tcourse", f"{A}\t", f"{A}\ta\tb", "no url\tcourse"])
    def test_a_malformed_line_is_named(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "labels.tsv"
        path.write_text(f"{B}\tcourse\n{line}\n")
        with pytest.raises(BadInput, match=r"labels\.tsv, line 2"):
            read_labels(path)

    def test_seeds(self) -> None:
        assert start_urls(["a.example", A, "http://c.example/c#x"]) == [A, C]
        with pytest.raises(BadInput, match=r"seeds\[1\]: 'not a url' is not a web URL$"):
            start_urls([A, "not a url"])


class TestARealWeb:
    def test_texas(self, texas: RecordedWeb, webs: Path) -> None:
        assert (len(texas), len(texas.pages())) == (1758, 817)
        labels = page_labels(texas, read_labels(webs / "webkb-texas.labels.tsv"))
        assert len(labels) == 817
        assert set(labels) == set(texas.pages())
        answer = texas.get("http://www.cs.utexas.edu/")
        assert answer
        assert answer.status == 200
        assert texas.get("http://www.cs.utexas.edu/no/such/page") is None

    def test_every_redirect_leads_to_a_page(self, texas: RecordedWeb) -> None:
        assert all(texas.page(url) for url in texas.urls())
