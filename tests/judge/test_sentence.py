"""A judge that is given a sentence to say what to look for, and learns from the crawl what the sentence means."""

from pathlib import Path

import numpy as np
import pytest
from msgspec import msgpack

from lycosa.contract.judge import check_judge
from lycosa.errors import ConfigError
from lycosa.judge import sentence
from lycosa.judge.sentence import Sentence, next_step
from lycosa.judging import text_relevances
from lycosa.types import Link, Page, Reply, Verdict, Visit

TEETH = "dentist tooth gum crown enamel filling root molar".split()
STARS = "star planet orbit comet galaxy telescope lens moon".split()
BOTH = "page city street visit news people today work".split()
ASKED = "Dentists and how they treat a tooth."


class Notes(dict[str, bytes]):
    """What a crawl's database does for a judge."""

    keep = dict.__setitem__

    def noted(self, key: str) -> bytes | str:
        return self.get(key, "")

    def notes(self, prefix: str) -> list[tuple[str, bytes]]:
        return [(key.removeprefix(prefix), self[key]) for key in sorted(self) if key.startswith(prefix)]


def page(number: int, words: list[str]) -> Page:
    return Page(f"http://a.example/{number}", words=tuple(words))


def pages(count: int) -> list[Page]:
    """Every fourth page is about teeth, the others are about stars."""
    chance = np.random.default_rng(2)
    found = []
    for number in range(count):
        own = chance.choice(STARS if number % 4 else TEETH, 4, replace=False).tolist()
        found.append(page(number, [*own * 3, *chance.choice(BOTH, 4).tolist()]))
    return found


def made(text: str | list[str] = ASKED, **options: list[str]) -> Sentence:
    judge = Sentence(text, **options)
    judge.prepare(Path(), lambda path: [])
    return judge


async def crawl(judge: Sentence, found: list[Page]) -> list[Verdict]:
    verdicts = []
    for one in found:
        verdicts.append(await judge.judge(one))
        judge.learn(Visit(Reply(Link(one.url)), one, verdicts[-1]))
    return verdicts


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors after forty pages instead of hundreds."""
    monkeypatch.setattr(sentence, "STEPS", (10, 40, 80))
    monkeypatch.setattr(sentence, "MEANING_FROM", 40)


@pytest.mark.parametrize("text", ["", "  ", "of the and", [], ["Dentists", ""], "2024 !"])
def test_a_sentence_without_a_telling_word_is_refused(text: str | list[str]) -> None:
    with pytest.raises(ConfigError, match=r"topic\.sentence"):
        made(text)


@pytest.mark.parametrize("words", [["the"], ["tooth", "-tooth"], ["-"]])
def test_words_that_cannot_be_looked_for_are_refused(words: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"topic\.words"):
        made(words=words)


async def test_the_first_page_is_judged_by_the_words_of_the_sentence() -> None:
    judge = made()
    about = await judge.judge(page(1, ["a", "dentist", "looks", "at", "a", "tooth"] * 4))
    other = await judge.judge(page(2, ["a", "comet", "flies", "past", "a", "star"]))
    assert about.on_topic
    assert not other.on_topic
    assert about.model == "words 1 (0 pages)"
    assert [*about.why] == ["dentists", "tooth"]


async def test_judging_changes_nothing() -> None:
    judge = made()
    await crawl(judge, pages(20))
    before = judge.save()
    first = [await judge.judge(one) for one in pages(5)]
    assert [await judge.judge(one) for one in pages(5)] == first
    assert judge.save() == before


async def test_words_that_are_used_with_those_of_the_sentence_become_telling() -> None:
    judge = made()
    unsaid = page(999, ["enamel", "gum", "crown", "molar", "page", "city"])
    before = await judge.judge(unsaid)
    await crawl(judge, pages(80))
    after = await judge.judge(unsaid)
    assert after.model == "vectors 4 (80 pages)"
    assert after.relevance > before.relevance
    assert max(after.why, key=lambda word: after.why[word]) in {"enamel", "gum", "crown", "molar"}
    assert {word for word, _ in dict(judge.describe(5))["also understood"]} <= {*TEETH}


async def test_on_topic_means_at_least_one_half() -> None:
    judge = made()
    await crawl(judge, pages(80))
    verdicts = [await judge.judge(one) for one in pages(80)]
    assert all(one.on_topic == (one.relevance >= 0.5) for one in verdicts)
    right = sum(one.on_topic == (number % 4 == 0) for number, one in enumerate(verdicts))
    assert right >= 76


async def test_a_new_version_says_once_what_it_thinks_of_the_pages_seen() -> None:
    judge = made()
    found = pages(12)
    await crawl(judge, found[:9])
    assert judge.revised() == []
    await crawl(judge, found[9:10])
    revised = judge.revised()
    assert [url for url, _ in revised] == [one.url for one in found[:10]]
    assert [verdict for _, verdict in revised] == [await judge.judge(one) for one in found[:10]]
    assert {verdict.model for _, verdict in revised} == {"words 2 (10 pages)"}
    await crawl(judge, found[10:])
    assert judge.revised() == []


async def test_the_same_crawl_gives_the_same_verdicts() -> None:
    assert await crawl(made(), pages(60)) == await crawl(made(), pages(60))


async def test_pages_of_other_shards_teach_what_words_mean() -> None:
    one, other, alone = made(), made(), made()
    found = pages(80)
    for judge in (one, other):
        judge.share()
    for start in range(0, 80, 4):  # a lesson after each two pages
        await crawl(alone, found[start : start + 4])
        for judge, listener, place in ((one, other, start), (other, one, start + 2)):
            await crawl(judge, found[place : place + 2])
            listener.study(msgpack.decode(msgpack.encode(judge.lesson())))
    assert one.bags_.seen == other.bags_.seen == 80
    assert one.version_.name == other.version_.name == alone.version_.name == "vectors 4 (80 pages)"
    unsaid = page(999, ["enamel", "gum", "crown", "molar", "page", "city"])
    expected = (await alone.judge(unsaid)).relevance
    assert (await one.judge(unsaid)).relevance == pytest.approx(expected, abs=0.02)
    assert one.lesson() == other.lesson() == {}


async def test_verdicts_on_pages_of_other_shards_are_not_revised() -> None:
    one, other = made(), made()
    one.share()
    found = pages(12)
    await crawl(one, found[:6])
    other.study(one.lesson())
    await crawl(other, found[6:])
    assert [url for url, _ in other.revised()] == [page.url for page in found[6:10]]


async def test_after_a_restart_it_goes_on_as_if_nothing_had_happened() -> None:
    notes = Notes()
    judge, found = made(), pages(90)
    judge.connect(notes, at_once=True)
    await crawl(judge, found[:50])
    again = made()
    again.connect(notes, at_once=True)
    again.load(judge.save())
    assert again.save() == judge.save()
    copied = Notes(notes)
    again.connect(copied, at_once=True)
    assert await crawl(again, found[50:]) == await crawl(judge, found[50:])
    assert again.revised() == judge.revised()


async def test_what_is_saved_with_every_commit_is_small() -> None:
    judge = made()
    judge.connect(Notes(), at_once=True)
    await crawl(judge, pages(80))
    assert judge.save() == {"pages": 80, "version": 4}


async def test_it_learns_in_a_thread_while_the_crawl_goes_on() -> None:
    judge, found = made(), pages(13)
    judge.connect(Notes())
    await crawl(judge, found[:10])
    assert judge.training_
    judge.training_.join()
    assert (await judge.judge(found[0])).model == "words 1 (0 pages)"  # taken over inside a turn, not before
    await crawl(judge, found[10:11])
    assert (await judge.judge(found[0])).model == "words 2 (10 pages)"
    revised = dict(judge.revised())
    assert [*revised] == [one.url for one in found[:11]]  # with the page that came meanwhile
    assert revised[found[10].url] == await judge.judge(found[10])


async def test_killed_while_it_learns_it_learns_again() -> None:
    notes = Notes()
    judge, found = made(), pages(12)
    judge.connect(notes)
    await crawl(judge, found[:10])
    assert judge.training_
    judge.training_.join()  # learned, but the process ends before the next turn
    again = made()
    again.connect(notes, at_once=True)
    again.load(judge.save())
    await crawl(again, found[10:11])
    assert (await again.judge(found[0])).model == "words 2 (11 pages)"
    assert len(again.revised()) == 11


async def test_where_it_cannot_learn_it_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    judge, found = made(), pages(45)
    with monkeypatch.context() as broken:
        broken.setattr(sentence, "learn_space", fail)
        await crawl(judge, found[:20])
    assert (await judge.judge(found[0])).model == "words 1 (0 pages)"
    await crawl(judge, found[20:])
    assert (await judge.judge(found[0])).model == "vectors 2 (40 pages)"


async def test_without_a_database_it_remembers_while_it_lives() -> None:
    judge = made()
    await crawl(judge, pages(20))
    again = made()
    again.load(judge.save())
    assert again.save() == {"pages": 0, "version": 1}


async def test_a_phrase_counts_more_than_its_words_apart() -> None:
    judge = made("Social work in the city.")
    together = await judge.judge(page(1, "today social work is good news for people in the street".split()))
    apart = await judge.judge(page(2, "today social news is good work for people in the street".split()))
    assert together.relevance > apart.relevance
    assert "social work" in together.why


async def test_a_word_with_a_minus_speaks_against_a_page() -> None:
    text = "the dentist found a tooth of a shark".split()
    plain = await made().judge(page(1, text))
    against = await made(words=["-shark"]).judge(page(1, text))
    assert against.relevance < plain.relevance
    assert against.why["shark"] < 0


async def test_of_several_sentences_one_is_enough() -> None:
    both = made([ASKED, "Comets and galaxies seen through a telescope."])
    assert (await both.judge(page(1, ["comet", "galaxy", "telescope"] * 4))).on_topic
    assert (await both.judge(page(2, ["dentist", "tooth"] * 4))).on_topic


async def test_a_few_words_are_judged_like_a_page_of_them() -> None:
    judge = made("Social work: how to treat a tooth.")
    await crawl(judge, pages(80))
    many = [["social", "work"], ["the", "enamel", "of", "a", "molar"], ["comet"], [], ["the"], ["unheard"]]
    at_once = text_relevances(judge, many)
    for words, relevance in zip(many, at_once, strict=True):
        assert relevance == pytest.approx(judge.relevance_of(words))
        verdict = judge.version_.verdict(judge.reader_.read_words(words))
        assert relevance == pytest.approx(verdict.relevance, abs=1e-4)
    assert at_once[1] > at_once[2]


async def test_it_says_which_words_no_page_has() -> None:
    judge = made("Dentists and their drills.")
    assert {word for word, _ in dict(judge.describe(10))["looked for: words 1 (0 pages)"]} == {"dentists", "drills"}
    await crawl(judge, pages(80))
    assert dict(judge.describe(10))["on no page so far"] == [("drills", 0.0)]


def test_when_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "STEPS", (10, 100))
    assert [next_step(seen) for seen in (0, 9, 10, 99, 100, 250)] == [10, 10, 100, 100, 200, 500]


async def test_failures_sitemaps_and_empty_pages_teach_nothing() -> None:
    judge = made()
    link = Link("http://a.example/1")
    judge.learn(Visit(Reply(link, error="timeout")))
    judge.learn(Visit(Reply(link), Page("http://a.example/1")))
    judge.learn(Visit(Reply(link), Page("http://a.example/1", words=("word",), listed=(link,))))
    assert judge.save()["pages"] == 0


def test_it_keeps_to_what_the_crawler_relies_on() -> None:
    check_judge(made)
