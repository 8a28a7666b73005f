"""Labelled pages: the two layouts, what is skipped and named, what is refused, and the digest of the files."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.judge.corpus import (
    Corpus,
    Source,
    as_list,
    digest,
    labelled_pages,
    read_corpus,
    read_labels,
    sources,
)
from lycosa.text import words
from lycosa.types import BadInput, Page


def read(path: Path) -> Iterator[tuple[str, Page]]:
    """Text files below a folder; a "WARC" here is a file of `url<TAB>text` lines."""
    if path.is_dir():
        for file in sorted(path.rglob("*.txt")):
            yield file.relative_to(path).as_posix(), Page(words=words(file.read_text()))
    else:
        for line in path.read_text().splitlines():
            url, text = line.split("\t")
            yield url, Page(url=url, words=words(text))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_folders_are_labels(tmp_path: Path) -> None:
    write(tmp_path / "pages/yes/a.txt", "alpha")
    write(tmp_path / "pages/yes/deep/b.txt", "beta")
    write(tmp_path / "pages/no/c.txt", "gamma")
    source = Source(tmp_path / "pages")
    flat = {name: label for name, label, _ in labelled_pages(source, read, nested=False)}
    assert flat == {"yes/a.txt": "yes", "yes/deep/b.txt": "yes", "no/c.txt": "no"}
    nested = {name: label for name, label, _ in labelled_pages(source, read, nested=True)}
    assert nested["yes/deep/b.txt"] == "yes.deep"


def test_a_warc_has_its_labels_beside_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    warc = write(tmp_path / "w.warc", "http://a/1\tone\nhttp://a/2\ttwo\nhttp://a/1\tagain\nhttp://a/3\tthree\n")
    labels = write(tmp_path / "w.tsv", "http://a/1\tyes\nHTTP://A:80/3\tno\nhttp://a/gone\tyes\n")
    found = list(labelled_pages(Source(warc, labels), read, nested=False))
    assert [(url, label) for url, label, _ in found] == [("http://a/1", "yes"), ("http://a/3", "no")]
    assert "1 URLs (http://a/gone) have no page in w.warc" in caplog.text


def test_pages_without_words_or_label_are_skipped_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / "p/yes/a.txt", "alpha")
    write(tmp_path / "p/yes/empty.txt", "")
    write(tmp_path / "p/README.txt", "what this is")
    with caplog.at_level(logging.WARNING):
        corpus = read_corpus([Source(tmp_path / "p")], {}, read)
    assert corpus.names == ["yes/a.txt"]
    assert sorted(corpus.skipped) == ["README.txt", "yes/empty.txt"]
    assert caplog.messages == ["skipped 2 pages (README.txt, yes/empty.txt) without words or label"]


def test_a_long_list_of_skipped_pages_is_cut(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(9):
        write(tmp_path / f"p/yes/{number}.txt", "")
    read_corpus([Source(tmp_path / "p")], {}, read)
    assert "9 pages (yes/0.txt, yes/1.txt, yes/2.txt, yes/3.txt, yes/4.txt, ...)" in caplog.text


def test_a_page_with_a_title_alone_counts() -> None:
    corpus = Corpus({"title": 2})
    corpus.add("a", "yes", Page(title="Zebras"))
    assert len(corpus) == 1
    assert corpus.terms.keys() == {"zebra", "title:zebra"}


def test_rows_are_the_counts() -> None:
    corpus = Corpus({})
    corpus.add("a", "yes", Page(words=["cat", "cats", "dog"]))
    corpus.add("b", "no", Page(words=["the"]))
    corpus.add("c", "no", Page(words=["dog", "dog", "bird"]))
    rows = corpus.rows()
    terms = list(corpus.terms)
    found = [
        {terms[column]: value for column, value in zip(columns.tolist(), values.tolist(), strict=True)}
        for columns, values in rows
    ]
    assert found == [{"cat": 2, "dog": 1}, {}, {"dog": 2, "bird": 1}]


def test_a_stem_is_shown_as_its_most_frequent_word() -> None:
    corpus = Corpus({})
    corpus.add("a", "yes", Page(words=["galaxies", "galaxies", "galaxy"], title="Universities"))
    readable = corpus.readable()
    assert readable["galaxi"] == "galaxies"
    assert readable["univers"] == "universities"


def test_sources_pair_warcs_with_labels(tmp_path: Path) -> None:
    for name in ("one.warc", "two.warc", "one.tsv", "two.tsv"):
        write(tmp_path / name, "")
    (tmp_path / "pages").mkdir()
    found = sources(tmp_path, ["one.warc", "pages", "two.warc"], ["one.tsv", "two.tsv"])
    assert found == [
        Source(tmp_path / "one.warc", tmp_path / "one.tsv"),
        Source(tmp_path / "pages"),
        Source(tmp_path / "two.warc", tmp_path / "two.tsv"),
    ]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    write(tmp_path / "one.warc", "")
    with pytest.raises(BadInput, match=r"topic.examples: there is no 'gone' in "):
        sources(tmp_path, "gone", "")
    with pytest.raises(BadInput, match=r"topic.labels: there is no 'gone.tsv' in "):
        sources(tmp_path, "one.warc", "gone.tsv")
    with pytest.raises(BadInput, match=r"topic.labels: 0 files of labels for 1 WARCs"):
        sources(tmp_path, "one.warc", "")
    with pytest.raises(BadInput, match=r"topic.examples: give a folder"):
        sources(tmp_path, [], "")


def test_labels_are_read_with_byte_order_mark_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "l.tsv"
    path.write_bytes("\ufeffhttp://a\tyes\r\n\r\nhttp://a/b#c\tTop.Science \r\n".encode())
    assert read_labels(path) == {"http://a/": "yes", "http://a/b": "Top.Science"}


@pytest.mark.parametrize(
    "line", ["http://a/", "http://a/\t", "\tyes", "http://a/ yes", "no url\tyes", "mailto:x\tyes", "http://a/\tyes\t1"]
)
def test_a_malformed_line_of_labels_is_named_with_its_number(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "l.tsv", f"http://a/\tyes\n\n{line}\n")
    with pytest.raises(BadInput, match=r"l\.tsv, line 3: not url<TAB>label"):
        read_labels(path)


def test_labels_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"l\.tsv: cannot be read"):
        read_labels(tmp_path / "l.tsv")
    with pytest.raises(BadInput, match=r"cannot be read"):
        read_labels(tmp_path)


def test_the_digest_follows_the_files_and_not_their_place(tmp_path: Path) -> None:
    write(tmp_path / "p/yes/a.txt", "alpha")
    labels = write(tmp_path / "l.tsv", "http://a/\tyes\n")
    found = [Source(tmp_path / "p", labels)]
    before = digest(found)
    shutil.copytree(tmp_path / "p", tmp_path / "q")
    assert digest([Source(tmp_path / "q", labels)]) == before
    write(tmp_path / "p/.hidden", "an editor's file")
    assert digest(found) == before
    (tmp_path / "p/yes/a.txt").rename(tmp_path / "p/yes/b.txt")
    assert digest(found) != before
    labels.write_text("http://a/\tno\n")
    assert digest([Source(tmp_path / "q", labels)]) != before


def test_one_name_or_several() -> None:
    assert as_list("") == []
    assert as_list("a") == ["a"]
    assert as_list(["a", "b"]) == ["a", "b"]
