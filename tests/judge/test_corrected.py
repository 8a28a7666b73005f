"""A judge with labels: the same as before without any, and better with each."""

import asyncio
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from lycosa import build, config
from lycosa.judge import JUDGES
from lycosa.judge.corrected import LABELS, Corrected
from lycosa.judge.correction import places
from lycosa.judge.given import GivenPage
from lycosa.judge.keywords import Keywords
from lycosa.store.db import CrawlDb
from lycosa.types import (
    BadInput,
    Learns,
    Link,
    Page,
    Remembers,
    Reply,
    Revises,
    Stateful,
    TextRelevance,
    Verdict,
    Visit,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
TOPICS = {
    "sky": ["telescope", *(f"sky{number}q" for number in range(150))],
    "food": [f"food{number}q" for number in range(150)],
}
COMMON = "home about contact news page site people time year work more read".split()


def text(about: str, chance: random.Random) -> list[str]:
    return [chance.choice(TOPICS[about] if chance.random() < 0.4 else COMMON) for _ in range(120)]


def pages(number: int = 60, seed: int = 1) -> list[tuple[str, Page]]:
    """Half on the sky, half on food; only some of the former have the word telescope."""
    chance, found = random.Random(seed), []
    for place in range(number):
        about = "sky" if place % 2 else "food"
        words = text(about, chance)
        found.append((about, Page(f"http://a.example/{place}", words=words, text=" ".join(words))))
    return found


def visit_of(page: Page, verdict: Verdict) -> Visit:
    return Visit(Reply(Link(page.url), url=page.url, status=200), page, verdict, digest=page.url)


def crawled(judge: Corrected, found: Sequence[tuple[str, Page]], notes: CrawlDb | None = None) -> dict[str, Verdict]:
    """Each page judged and learned, as in a crawl: all verdicts as they stand in the end."""
    judge.connect(notes or CrawlDb(":memory:").open())
    verdicts = {}
    for _, page in found:
        verdict = asyncio.run(judge.judge(page))
        verdicts[page.url] = verdict
        judge.learn(visit_of(page, verdict))
        verdicts |= judge.revised()
    return verdicts


def keywords(**options: Any) -> Keywords:
    judge = Keywords(["telescope"], adapt=False, **options)
    judge.prepare(Path(), lambda path: [])
    return judge


def accuracy(verdicts: Mapping[str, Verdict], found: Sequence[tuple[str, Page]]) -> float:
    return sum(verdicts[page.url].on_topic == (about == "sky") for about, page in found) / len(found)


class Plain:
    """Can do nothing but judge, and is wrong about everything it knows little of."""

    async def judge(self, page: Page) -> Verdict:
        return Verdict(0.3, False, why={"nothing": 0.3})


class TestWithoutLabels:
    def test_the_verdicts_are_those_of_the_judge(self) -> None:
        class Same(Plain):
            said = Verdict(0.7, True)

            async def judge(self, page: Page) -> Verdict:
                return self.said

        judge = Corrected(Same())
        assert asyncio.run(judge.judge(Page("http://a/"))) is Same.said
        judge.connect(CrawlDb(":memory:").open())
        judge.teach({})
        assert asyncio.run(judge.judge(Page("http://a/"))) is Same.said
        assert judge.revised() == []

    def test_it_can_do_what_the_judge_can_do(self) -> None:
        judge, plain = Corrected(keywords()), Corrected(Plain())
        assert isinstance(judge, Stateful)
        assert isinstance(judge, TextRelevance)
        assert isinstance(plain, Learns)
        assert isinstance(plain, Revises)
        assert isinstance(plain, Remembers)
        assert not isinstance(plain, Stateful)
        assert not isinstance(plain, TextRelevance)
        assert judge.relevance_of(["telescope"]) == keywords().relevance_of(["telescope"])  # type: ignore[attr-defined]
        assert judge.save() == keywords().save()
        assert judge.describe(3)  # type: ignore[attr-defined]

    def test_the_judge_is_connected_learns_and_revises(self) -> None:
        heard: list[Any] = []

        class Busy(Plain):
            def connect(self, notes: Any, at_once: bool) -> None:
                heard.append("connected")

            def learn(self, visit: Visit) -> None:
                heard.append(visit.verdict)

            def revised(self) -> list[tuple[str, Verdict]]:
                return [("http://a.example/0", Verdict(0.8, True))]

        judge = Corrected(Busy())
        verdicts = crawled(judge, pages(2))
        assert heard == ["connected", *[Verdict(0.3, False, why={"nothing": 0.3})] * 2]
        assert verdicts["http://a.example/0"] == Verdict(0.8, True)


class TestLabels:
    def test_a_labelled_page_has_the_verdict_of_its_label(self) -> None:
        judge, found = Corrected(Plain()), pages()
        before = crawled(judge, found)
        judge.teach({found[1][1].url: True})
        after = before | dict(judge.revised())
        verdict = after[found[1][1].url]
        assert (verdict.relevance, verdict.on_topic) == (1.0, True)
        assert (verdict.uncorrected, verdict.steering_relevance) == (0.3, 1.0)
        assert verdict.why == {LABELS: 0.7, "nothing": 0.3}
        assert asyncio.run(judge.judge(found[1][1])) == verdict

    def test_a_page_is_as_near_to_the_topic_as_the_judge_alone_says_even_if_labels_call_it_off_topic(self) -> None:
        judge, found = Corrected(Plain()), pages()
        before = crawled(judge, found)
        judge.teach({page.url: False for _, page in found[:6]})
        after = before | dict(judge.revised())
        assert all(after[page.url].relevance < after[page.url].steering_relevance == 0.3 for _, page in found)

    def test_a_few_teach_what_similar_pages_are(self) -> None:
        judge, found = Corrected(keywords()), pages()
        before = crawled(judge, found)
        judge.teach({page.url: about == "sky" for about, page in found[:6]})
        few = before | dict(judge.revised())
        assert accuracy(before, found) < 0.6 < 0.7 <= accuracy(few, found)
        judge.teach({page.url: about == "sky" for about, page in found[:20]})
        after = few | dict(judge.revised())
        assert accuracy(after, found) >= 0.95
        assert judge.flipped_ == sum(few[url].on_topic != after[url].on_topic for url in few)
        new = pages(40, seed=2)
        judged = {page.url: asyncio.run(judge.judge(page)) for _, page in new[6:]}
        assert accuracy(judged, new[6:]) >= 0.95

    def test_some_wrong_labels_do_little_harm(self) -> None:
        found = pages(200)
        for seed in range(3):
            judge, chance = Corrected(keywords()), random.Random(seed)
            before = crawled(judge, found)
            labels = {page.url: (about == "sky") != (chance.random() < 0.1) for about, page in found[:40]}
            judge.teach(labels)
            after = before | dict(judge.revised())
            assert accuracy(after, found[40:]) >= 0.85 > 0.6 > accuracy(before, found[40:])

    def test_one_label_is_not_believed_everywhere(self) -> None:
        judge, found = Corrected(keywords()), pages()
        before = crawled(judge, found)
        sky = next(page.url for about, page in found if about == "sky" and before[page.url].on_topic)
        judge.teach({sky: False})
        after = before | dict(judge.revised())
        assert accuracy(after, found) >= accuracy(before, found) - 0.25

    def test_taking_all_back_is_as_if_there_had_been_none(self) -> None:
        judge, found = Corrected(keywords()), pages()
        before = crawled(judge, found)
        judge.teach({page.url: about == "sky" for about, page in found[:6]})
        after = before | dict(judge.revised())
        judge.teach({})
        again = after | dict(judge.revised())
        for url, verdict in before.items():
            assert again[url].on_topic == verdict.on_topic
            assert again[url].relevance == pytest.approx(verdict.relevance, abs=1e-3)
        assert asyncio.run(judge.judge(found[0][1])) == before[found[0][1].url]

    def test_the_judge_inside_learns_from_its_own_verdicts(self) -> None:
        learned: list[Verdict] = []

        class Learner(Plain):
            def learn(self, visit: Visit) -> None:
                learned.append(visit.verdict)

        judge = Corrected(Learner())
        judge.connect(CrawlDb(":memory:").open())
        judge.teach({"http://a.example/0": True})
        page = pages(1)[0][1]
        verdict = asyncio.run(judge.judge(page))
        assert verdict.on_topic
        judge.learn(visit_of(page, verdict))
        assert learned == [Verdict(0.3, False, why={"nothing": 0.3})]

    def test_a_page_judged_before_the_labels_came_is_revised_in_its_turn(self) -> None:
        judge, (_, page) = Corrected(Plain()), pages(1)[0]
        judge.connect(CrawlDb(":memory:").open())
        verdict = asyncio.run(judge.judge(page))
        judge.teach({page.url: True})
        assert judge.revised() == []
        judge.learn(visit_of(page, verdict))
        assert [(url, now.on_topic) for url, now in judge.revised()] == [(page.url, True)]

    def test_labels_of_pages_not_fetched_yet_teach_when_they_are(self) -> None:
        judge, found = Corrected(keywords()), pages()
        judge.connect(CrawlDb(":memory:").open())
        judge.teach({page.url: about == "sky" for about, page in found[:10]})
        verdicts = {}
        for _, page in found:
            verdict = asyncio.run(judge.judge(page))
            judge.learn(visit_of(page, verdict))
            verdicts[page.url] = verdict
            verdicts |= judge.revised()
        assert accuracy(verdicts, found) >= 0.85

    def test_a_restart_changes_nothing(self) -> None:
        notes, found = CrawlDb(":memory:").open(), pages()
        judge, restarted = Corrected(keywords()), Corrected(keywords())
        crawled(judge, found, notes)
        labels = {page.url: about == "sky" for about, page in found[:6]}
        judge.teach(labels)
        assert judge.revised()
        restarted.connect(notes)
        restarted.teach(labels)
        assert restarted.revised() == []
        for _, page in pages(20, seed=5):
            assert asyncio.run(restarted.judge(page)) == asyncio.run(judge.judge(page))

    def test_what_the_judge_revises_is_corrected_too(self) -> None:
        class Wavers(Plain):
            news: Sequence[tuple[str, Verdict]] = ()

            def revised(self) -> Sequence[tuple[str, Verdict]]:
                news, self.news = self.news, ()
                return news

        inner, found = Wavers(), pages(20)
        judge = Corrected(inner)
        crawled(judge, found)
        judge.teach({page.url: about == "sky" for about, page in found[:10]})
        judge.revised()
        inner.news = [(found[0][1].url, Verdict(0.9, True)), (found[12][1].url, Verdict(0.9, True))]
        revised = dict(judge.revised())
        assert not revised[found[0][1].url].on_topic
        assert revised[found[12][1].url].relevance < 0.9
        judge.teach({})
        assert dict(judge.revised())[found[12][1].url].relevance == 0.9


@pytest.mark.parametrize("kind", JUDGES)
def test_labels_teach_every_kind_of_judge(kind: str, tmp_path: Path) -> None:
    """What each example's topic is about has nothing to do with the sky: only the labels tell."""
    shutil.copytree(EXAMPLES / kind, tmp_path / kind)
    judge, found = Corrected(build.make_judge(*config.load(tmp_path / kind))), pages(60)
    before = crawled(judge, found)
    judge.teach({page.url: about == "sky" for about, page in found[:20]})
    after = before | dict(judge.revised())
    assert accuracy(after, found[20:]) >= max(0.9, accuracy(before, found[20:]))


class TestShards:
    def two(self) -> tuple[Corrected, Corrected, list[tuple[str, Page]]]:
        """Two judges, each of which has seen every other page."""
        found, judges = pages(), (Corrected(Plain()), Corrected(Plain()))
        for number, judge in enumerate(judges):
            crawled(judge, found[number * 30 : number * 30 + 30])
            judge.share()
        return *judges, found

    def test_labels_teach_the_others_as_if_they_were_their_own(self) -> None:
        one, other, found = self.two()
        given = {page.url: about == "sky" for about, page in found[:8]}
        one.teach(given)
        other.study(one.lesson())
        assert one.lesson() == {}
        assert other.taught_.labels == given
        assert other.taught_.fitted == 8
        revised = dict(other.revised())
        assert accuracy(revised, [item for item in found[30:] if item[1].url in revised]) > 0.8
        assert {url for url, verdict in revised.items() if verdict.on_topic} <= {page.url for _, page in found[30:]}
        assert other.lesson() == {}, "what others have told is not ours to pass on"

    def test_a_removed_label_is_removed_everywhere(self) -> None:
        one, other, found = self.two()
        one.teach({page.url: about == "sky" for about, page in found[:8]})
        other.study(one.lesson())
        other.revised()
        one.teach({})
        other.study(one.lesson())
        assert other.taught_.labels == {}
        assert other.taught_.correction is None
        assert not any(verdict.on_topic for _, verdict in other.revised())

    def test_a_labelled_page_is_told_again_once_it_is_fetched(self) -> None:
        one, other, found = self.two()
        about, late = found[35]
        one.teach({late.url: about == "sky"})
        other.study(one.lesson())
        assert (other.taught_.labels, other.taught_.fitted) == ({late.url: about == "sky"}, 1), "it has the page itself"
        one.learn(visit_of(late, asyncio.run(one.judge(late))))
        assert [(url, bool(page)) for url, _, page in one.lesson()["labels"]] == [(late.url, True)]

    def test_after_a_restart_only_what_is_new_is_told(self) -> None:
        one, other, found = self.two()
        given = {page.url: about == "sky" for about, page in found[:4]}
        one.teach(given)
        first = one.lesson()
        other.study(first)
        notes, again = other.notes_, Corrected(Plain())
        assert notes
        again.connect(notes)
        again.share()
        again.teach({})
        assert again.taught_.labels == given, "what others have told is remembered"
        successor = Corrected(Plain())
        assert one.notes_
        successor.connect(one.notes_)
        successor.teach(given)
        successor.share()
        assert successor.lesson() == {}
        again.revised()
        again.study(first)
        assert again.before_ is None, "nothing to learn from what is known"


class Known(Plain):
    """Was trained on pages about the sky and others about food, but does not remember any of it."""

    def __init__(self, number: int = 40) -> None:
        self.number = number
        self.reads = 0
        self.may_read = Event()
        self.may_read.set()

    def given(self) -> list[GivenPage]:
        self.reads += 1
        self.may_read.wait(10)
        return [GivenPage(Verdict(0.3), places(page), about == "sky") for about, page in pages(self.number, seed=7)]


class TestTrainingPages:
    FOUND = pages(40)
    LABELS = {page.url: about == "sky" for about, page in FOUND[:2]}  # noqa: RUF012

    def test_they_are_learned_from_together_with_the_labels(self) -> None:
        right = {}
        for judge in (Plain(), Known()):
            corrected = Corrected(judge)
            verdicts = crawled(corrected, self.FOUND)
            corrected.teach(self.LABELS)
            verdicts |= corrected.revised()
            right[type(judge)] = accuracy(verdicts, self.FOUND)
        assert right[Known] > 0.95
        assert right[Plain] < 0.9

    def test_they_are_not_read_without_labels(self) -> None:
        judge = Known()
        corrected = Corrected(judge)
        crawled(corrected, self.FOUND)
        corrected.teach({})
        corrected.teach({"http://b.example/not-fetched": True})
        assert judge.reads == 0

    def test_a_labelled_page_gets_the_verdict_of_its_label(self) -> None:
        corrected = Corrected(Known())
        verdicts = crawled(corrected, self.FOUND)
        wrong = {url: not label for url, label in self.LABELS.items()}
        corrected.teach(wrong)
        verdicts |= corrected.revised()
        assert {url: verdicts[url].on_topic for url in wrong} == wrong

    def test_a_running_crawl_does_not_wait_for_them(self) -> None:
        judge = Known()
        corrected, notes = Corrected(judge), CrawlDb(":memory:").open()
        verdicts = crawled(corrected, self.FOUND[:-1], notes)
        corrected.at_once_ = False
        judge.may_read.clear()
        corrected.teach(self.LABELS)
        verdicts |= corrected.revised()
        before = accuracy(verdicts, self.FOUND[:-1])
        judge.may_read.set()
        assert corrected.given_ is not None
        corrected.given_.join(10)
        page = self.FOUND[-1][1]
        verdicts[page.url] = asyncio.run(corrected.judge(page))
        corrected.learn(visit_of(page, verdicts[page.url]))
        verdicts |= corrected.revised()
        assert accuracy(verdicts, self.FOUND) > max(0.95, before)
        assert corrected.taught_.given == 40
        corrected.learn(visit_of(page, asyncio.run(corrected.judge(page))))
        assert corrected.revised() == []  # it learns once, not with every page
        assert judge.reads == 1

    def test_what_was_learned_survives_without_reading_them_again(self) -> None:
        notes = CrawlDb(":memory:").open()
        first, judge = Corrected(Known()), Known()
        crawled(first, self.FOUND, notes)
        first.teach(self.LABELS)
        again = Corrected(judge)
        again.connect(notes)
        again.teach(self.LABELS)
        assert judge.reads == 0
        for _, page in pages(10, seed=3):
            assert asyncio.run(again.judge(page)) == asyncio.run(first.judge(page))

    def test_a_kill_while_they_are_read(self) -> None:
        notes, stuck = CrawlDb(":memory:").open(), Known()
        first = Corrected(stuck)
        crawled(first, self.FOUND, notes)
        first.at_once_ = False
        stuck.may_read.clear()
        first.teach(self.LABELS)
        judge = Known()
        again = Corrected(judge)
        again.connect(notes)
        again.teach(self.LABELS)
        assert judge.reads == 1
        assert again.taught_.given == 40
        assert again.revised()
        stuck.may_read.set()

    def test_labels_alone_if_they_cannot_be_read(self, caplog: pytest.LogCaptureFixture) -> None:
        class Lost(Known):
            def given(self) -> list[GivenPage]:
                raise BadInput("pages.warc.gz: cannot be read")

        taught = {}
        for judge in (Plain(), Lost()):
            corrected = Corrected(judge)
            crawled(corrected, self.FOUND)
            corrected.teach(self.LABELS)
            taught[type(judge)] = corrected.revised()
        assert taught[Plain] == taught[Lost]
        assert "pages.warc.gz: cannot be read" in caplog.text
