"""Full-text search: what is found, what is folded, and that the index follows the crawl."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lycosa import cli
from lycosa.errors import BadInput
from lycosa.parse.simhash import simhash
from lycosa.search_index import updating
from lycosa.search_index.finding import Wanted, count_indexed, find
from lycosa.store.db import CrawlDb
from lycosa.store.labels import put_labels
from lycosa.store.visits import VisitStore
from lycosa.store.warc import WarcWriter
from lycosa.types import Exchange, Link, Page, Reply, Verdict, Visit

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
SAME = "the very same long text about a nebula " * 30
TEXTS = {  # by URL: title, text, relevant
    "http://a.example/1": ("Comets", "a comet and its tail, seen at night", True),
    "http://a.example/2": ("Tails", "the comet came back", True),
    "http://b.example/3": ("Cooking", "a comet of spices", False),
    "http://b.example/4": ("<script>alert(1)</script>", "hostile & <b>comet</b> \u202e text", True),
    "http://b.example/5": ("Nebula", SAME, True),
    "http://c.example/6": ("Nebula again", SAME + "indeed", True),
}
Write = Callable[..., None]


def visit(url: str, relevant: bool | None = None) -> Visit:
    title, text, is_relevant = TEXTS[url]
    body = f"<title>{title}</title><p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>".encode()
    at = 1_700_000_000.0 + 86_400 * int(url[-1])
    exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", HEAD, body, at)
    reply = Reply(Link(url), url, 200, "text/html; charset=utf-8", body, at=at, exchanges=(exchange,))
    verdict = Verdict(0.9, is_relevant if relevant is None else relevant, "sky" if "a." in url else "")
    words = text.split()[:200]
    return Visit(reply, Page(url, title, simhash=simhash(words)), verdict, digest=url)


def add(folder: Path, urls: list[str]) -> None:
    db = CrawlDb(folder / "crawl.db").open()
    store = VisitStore(db, WarcWriter(folder / "warc"))
    store.open()
    for url in urls:
        store.write(visit(url))
    db.commit()
    store.close()
    db.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crawl.toml").write_text(
        "seeds = ['http://a.example/']\n[topic]\nkind = 'keywords'\nwords = ['comet']\n"
    )
    add(tmp_path, list(TEXTS))
    return tmp_path


def urls(folder: Path, words: str = "", **filters: object) -> set[str]:
    return {hit.url[-1] for hit in find(folder, Wanted(words, **filters)).hits}  # type: ignore[arg-type]


def test_relevant_pages_are_found_by_all_their_words(folder: Path) -> None:
    assert updating.update(folder) == 5
    assert urls(folder, "comet") == {"1", "2", "4"}
    assert urls(folder, "comet night") == {"1"}
    assert urls(folder, "comet tail") == {"1", "2"}  # the other is called "Tails"
    assert urls(folder, "comet -tail") == {"4"}
    assert urls(folder, '"came back"') == {"2"}
    assert urls(folder, "spices") == set()
    assert urls(folder, "tails") == {"1", "2"}  # in the text, in the title
    assert urls(folder) == {"1", "2", "4", "5"}


def test_words_are_stemmed_and_snippets_show_them_as_written(folder: Path) -> None:
    updating.update(folder)
    assert urls(folder, "Comets") == {"1", "2", "4"}
    assert urls(folder, '"comets coming"') == set()
    assert urls(folder, '"long texts about a nebula"') == {"5"}
    hit = find(folder, Wanted("comets tails")).hits[0]
    assert [piece.text for piece in hit.snippet if piece.is_hit] == ["comet", "tail"]


@pytest.mark.parametrize("words", ["http://a.example", "title:", '"', "(((", "a AND", "[x TO", "-", "*", "\\"])
def test_nobody_can_break_it_by_what_they_type(folder: Path, words: str) -> None:
    updating.update(folder)
    find(folder, Wanted(words))


def test_filters(folder: Path) -> None:
    with closing(CrawlDb(folder / "crawl.db").open()) as db:
        put_labels(db, {"http://a.example/1": True}, "best", 1.0)
        db.commit()
    updating.update(folder)
    assert urls(folder, "comet", host="a.example") == {"1", "2"}
    assert urls(folder, label="sky") == {"1", "2"}
    assert urls(folder, given="yes") == {"1"}
    assert urls(folder, since=1_700_000_000 + 4 * 86_400) == {"4", "5"}
    assert urls(folder, until=1_700_000_000 + 2 * 86_400) == {"1"}
    found = find(folder, Wanted("comet"))
    assert [*found.hosts] == [("a.example", 2), ("b.example", 1)]
    assert [*found.labels] == [("sky", 2)]


def test_near_duplicates_are_one_result_and_pages_follow_each_other(folder: Path) -> None:
    updating.update(folder)
    found = find(folder, Wanted("nebula"))
    assert (found.pages, found.results) == (2, 1)
    assert len(found.hits[0].same) == 1
    first, second = (find(folder, Wanted("comet"), 2, offset) for offset in (0, 2))
    assert {hit.n for hit in [*first.hits, *second.hits]} == {1, 2, 4}


def test_a_snippet_is_text_with_its_hits_named(folder: Path) -> None:
    updating.update(folder)
    hit = next(hit for hit in find(folder, Wanted("comet")).hits if hit.n == 4)
    assert hit.title == "<script>alert(1)</script>"
    assert "".join(piece.text for piece in hit.snippet).startswith("hostile & <b>comet</b>")
    assert [piece.text for piece in hit.snippet if piece.is_hit] == ["comet"]


def test_the_index_follows_the_crawl(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updating, "BATCH", 2)
    told: list[tuple[int, int]] = []
    updating.update(folder, lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert updating.update(folder) == 0
    with closing(CrawlDb(folder / "crawl.db").open()) as db:
        VisitStore(db, None).hear(
            [("http://a.example/1", Verdict(0.1)), ("http://b.example/3", Verdict(0.8, True, "food"))]
        )
        db.commit()
    assert updating.update(folder) == 2
    assert urls(folder, "comet") == {"2", "3", "4"}
    assert urls(folder, label="food") == {"3"}
    assert count_indexed(folder) == 5


def test_an_index_that_is_damaged_or_of_another_format_is_made_again(folder: Path) -> None:
    updating.update(folder)
    (folder / updating.NAME / "pages.json").write_text("{")
    assert updating.update(folder) == 5
    assert urls(folder, "comet") == {"1", "2", "4"}


def test_an_index_without_stems_is_rebuilt(folder: Path) -> None:
    """Indexes of format 1 held words as written."""
    tantivy, where = updating.load_tantivy(), folder / updating.NAME
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True)
    where.mkdir()
    tantivy.Index(builder.build(), path=str(where))
    (where / "pages.json").write_text('{"marks": {"1": 1}, "format": 1}')
    assert updating.update(folder) == 5
    assert urls(folder, "comets") == {"1", "2", "4"}


def test_two_cannot_update_at_once(folder: Path) -> None:
    updating.update(folder)
    index = updating.load_tantivy().Index.open(str(folder / updating.NAME))
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    (folder / updating.NAME / "pages.json").write_text(f'{{"marks": {{}}, "format": {updating.FORMAT}}}')
    with pytest.raises(updating.Busy, match="another process is updating the index"):
        updating.update(folder)
    writer.rollback()


def test_a_crawl_without_copies_is_searched_by_title(folder: Path) -> None:
    for warc in (folder / "warc").iterdir():
        warc.unlink()
    updating.update(folder)
    assert urls(folder, "comets") == {"1"}


def test_without_an_index_the_user_hears_how_to_make_one(folder: Path) -> None:
    with pytest.raises(BadInput, match="there is no search index yet"):
        find(folder, Wanted("comet"))
    assert count_indexed(folder) == 0


def test_without_tantivy_the_user_hears_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tantivy", None)
    with pytest.raises(BadInput, match=r"pip install 'lycosa\[search\]'"):
        updating.update(folder)


class TestCommand:
    def run(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
    ) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["lycosa", "find", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    def test_it_prints_what_it_finds(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code, out, _ = self.run(capsys, monkeypatch, str(folder), "came back")
        assert code == 0
        assert "http://a.example/2" in out
        assert "1 of 1 results, 1 page in all" in out
        assert "\u202e" not in self.run(capsys, monkeypatch, str(folder), "hostile")[1]
        assert self.run(capsys, monkeypatch, str(folder), "nothing")[1] == "no relevant page has these words\n"
        assert '"url":"http://a.example/2"' in self.run(capsys, monkeypatch, str(folder), "back", "--json")[1]

    def test_a_word_with_a_minus_excludes_pages(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "http://a.example/2" in self.run(capsys, monkeypatch, str(folder), "came", "-film")[1]
        out = self.run(capsys, monkeypatch, str(folder), "came", "-back", "--count", "3")[1]
        assert out == "no relevant page has these words\n"
        code, _, err = self.run(capsys, monkeypatch, str(folder), "came", "--back")
        assert (code, err) == (2, "lycosa: --back: there is no such option\n")

    def test_a_bad_date_is_one_line(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code, _, err = self.run(capsys, monkeypatch, str(folder), "x", "--since", "soon")
        assert (code, err) == (2, "lycosa: --since soon: not a date; write 2026-01-31\n")
