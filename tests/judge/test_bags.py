from lycosa.judge.bags import MOST_DISTINCT, MOST_TIMES, Bags, Reader, text_of
from lycosa.types import Page


class Notes(dict[str, bytes]):
    """What a crawl's database does for a judge."""

    keep = dict.__setitem__

    def noted(self, key: str) -> bytes | str:
        return self.get(key, "")

    def notes(self, prefix: str) -> list[tuple[str, bytes]]:
        return [(key.removeprefix(prefix), self[key]) for key in sorted(self) if key.startswith(prefix)]


def page(words: str, url: str = "http://a.example/") -> Page:
    return Page(url, words=tuple(words.split()))


def filled(bags: Bags, pages: int, words: int = 3) -> Bags:
    for number in range(pages):
        bag = {"common": 2} | {f"w{number}x{word}": 1 for word in range(words)}
        bags.add(f"http://a.example/{number}", bag, lambda: {"common": "commonly"})
    return bags


def test_a_page_is_read_as_stems_and_the_phrases_that_are_asked_for() -> None:
    bag = Reader(["social work"]).read(Page("http://a.example/", "Social", "", ("the", "social", "works", "social")))
    assert bag["social work"] == 1
    assert bag["social"] == 3 + 2
    assert "the" not in bag


def test_title_and_address_count() -> None:
    text = text_of(Page("http://a.example/teeth%20care", "Dentists", "", ("page",)))
    assert text.count("dentists") == 3
    assert text.count("teeth") == text.count("care") == 1


def test_a_page_of_endless_words_keeps_its_phrases_and_some_of_its_words() -> None:
    bag = Reader(["wolf spider"]).read_words([*(f"word{chr(97 + n % 26)}{n}x" for n in range(2_000)), "wolf", "spider"])
    assert len(bag) == MOST_DISTINCT
    assert bag["wolf spider"] == 1


def test_what_was_remembered_is_there_after_a_restart() -> None:
    notes = Notes()
    bags = Bags()
    bags.connect(notes)
    reader = Reader(["study abroad"])
    text = ["studying", "abroad", "studies"]
    bags.add("http://a.example/1", reader.read_words(text), lambda: reader.spell(text))
    bags.add("http://a.example/2", {"abroad": 1_000}, dict)
    again = Bags()
    again.connect(notes)
    again.load(2)
    assert again.urls == bags.urls
    assert [again.bag(slot) for slot in range(2)] == [bags.bag(slot) for slot in range(2)]
    assert again.bag(1) == {"abroad": MOST_TIMES}
    assert again.seen == 2


def test_only_so_many_pages_are_kept_and_they_are_a_sample_of_all() -> None:
    one, other = filled(Bags(most_pages=50), 500), filled(Bags(most_pages=50), 500)
    assert len(one) == 50
    assert one.seen == 500
    assert one.urls == other.urls
    assert 5 < sum(int(url.rpartition("/")[2]) < 250 for url in one.urls) < 45


def test_hostile_pages_do_not_grow_the_list_of_terms_without_end() -> None:
    bags = filled(Bags(most_terms=300), 200, words=20)
    assert len(bags.terms) <= 300
    assert all(bag["common"] == 2 for bag in map(bags.bag, range(200)))
    rows = bags.rows()
    assert len(rows) == 200
    assert rows.columns.max() < len(bags.terms)


def test_a_copy_does_not_change_with_the_original() -> None:
    bags = filled(Bags(), 3)
    copy = bags.copy()
    filled(bags, 3)
    assert (len(copy), copy.seen) == (3, 3)
    assert copy.rows().width == len(copy.terms)
