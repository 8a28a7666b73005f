"""The strategy that learns: where it starts, what moves it, what it forgets, and what survives."""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lycosa import urls as addresses
from lycosa.lab.generated import GeneratedWeb, Links, Text
from lycosa.lab.one import LabCrawl, crawl_web
from lycosa.lab.replay import SiteWeb
from lycosa.store.db import CrawlDb
from lycosa.strategy.learned import CALLED, HEARD, MOST_CREDIT, Learned
from lycosa.strategy.learned_report import learned
from lycosa.strategy.link_features import PRIOR
from lycosa.strategy.link_reading import COUNTED
from lycosa.strategy.link_words import LinkWords
from lycosa.strategy.links import SOURCES
from lycosa.strategy.reasons import HELD_BACK, IN_WORDS, START
from lycosa.strategy.rule_base import RuleBase, save
from lycosa.strategy.url_features import anchor_word
from lycosa.types import BadInput, Exchange, Explanation, Link, Page, Reply, Scored, Verdict, Visit

HOME = "http://a.example/"
GOOD, BAD = Verdict(0.9, True, "course", {"course": 0.9}), Verdict(0.1, False, "other", {"course": 0.1})


class Glancing:
    """Words are relevant if one of them is `course`."""

    def relevance_of(self, words: Sequence[str]) -> float:
        return 0.9 if "course" in words else 0.1


class Numbers(dict[str, int]):
    """Stands for the frontier: it gives each URL an id, whoever asks."""

    def __missing__(self, url: str) -> int:
        self[url] = len(self) + 1
        return self[url]

    def url(self, number: int) -> str:
        return list(self)[number - 1]


NUMBERS = Numbers()
SCORES: dict[int, float] = defaultdict(float)  # of queued URLs: zero, so that every new score is another one


def connected(strategy: Learned, db: CrawlDb | None, refusals: Any = lambda links: {}) -> Learned:
    view = SimpleNamespace(notes=db, refusals=refusals, waits=lambda number: True)
    view.numbers = lambda urls: [*map(NUMBERS.__getitem__, urls)]
    view.scores = lambda: SCORES
    strategy.connect(view)
    return strategy


def make(db: CrawlDb | None = None, **options: Any) -> Learned:
    strategy = Learned(**options)
    strategy.prepare(Path(), Glancing())
    return connected(strategy, db)


def page(
    url: str, targets: Sequence[str], verdict: Verdict = BAD, source: str = "", words: Sequence[str] = (), **more: Any
) -> Visit:
    """A visit to a page with links to targets; the words of the page are anchors, one a link."""
    asked = Link(url, source, "", 1 if source else 0)
    links = [
        Link(target, url, words[place] if words else "", asked.depth + 1, place, place + 1)
        for place, target in enumerate(targets)
    ]
    reply = Reply(asked, url=url, status=200)
    return Visit(reply, Page(url, words=tuple(words), links=links), verdict, **more)


def turn(strategy: Learned, visit: Visit) -> dict[str, float]:
    """One turn of the loop: the scores of the links, renewed."""
    strategy.learn(visit)
    scores = {link.url: score for link, score in zip(visit.page.links, strategy.score(visit), strict=True)}
    return scores | renew(strategy)


def renew(strategy: Learned) -> dict[str, float]:
    """The new scores of waiting links."""
    effects = strategy.effects()
    numbers, scores, hosts = effects.ids, effects.scores, effects.hosts
    urls = [*map(NUMBERS.url, numbers)]
    assert [url.split("/")[2] for url in urls] == hosts
    return dict(zip(urls, scores, strict=True))


class Waiting:
    """What is known of a link that waits."""

    def __init__(self, strategy: Learned, url: str) -> None:
        links = strategy.memory_.links
        row = links.find(url)
        assert row, f"{url} does not wait"
        self.found, self.best = links.found(row), strategy.memory_.best_page(row)
        self.twin, self.turn = links.twins[row], links.turns[row]
        self.elsewhere, self.value = links.elsewheres[row], links.values[row]
        (self.evidence,) = strategy.evidence([row])


def waiting(strategy: Learned) -> dict[str, Waiting]:
    """All that waits, in the order of the pages it was found on."""
    rows = dict.fromkeys(row for source in strategy.memory_.sources for row in source.kids)
    urls = [NUMBERS.url(strategy.memory_.links.ids[row]) for row in rows]
    return {url: Waiting(strategy, url) for url in urls}


def worth(strategy: Learned, url: str) -> float:
    row = strategy.memory_.links.find(url)
    (weighed,) = strategy.weigh([row])
    return weighed.score if weighed else 1.0


def told(db: CrawlDb, url: str, score: float, fetched: bool = True) -> Explanation:
    """What `why` has to tell of a URL, from crawl.db alone."""
    return Learned().explain(Scored(Link(url), score, fetched, number=NUMBERS[url]), db)


def kids(folder: str, count: int) -> list[str]:
    return [f"http://a.example/{folder}/{number}.html" for number in range(count)]


def test_it_starts_as_a_mixture_and_the_prior_has_words_for_all_its_parts() -> None:
    strategy = make()
    assert strategy.weights_.values == list(PRIOR.values())
    assert set(IN_WORDS) == set(PRIOR)


def test_words_around_a_link_count_from_the_start() -> None:
    words = ["course", *["weather"] * 39]
    found = turn(make(), page(HOME, kids("x", 40), words=words))  # so long a page that contexts differ
    assert max(found, key=found.__getitem__) in kids("x", 20)
    assert found[kids("x", 40)[0]] > found[kids("x", 40)[30]]


def test_links_of_a_relevant_page_come_before_those_of_another() -> None:
    strategy = make()
    turn(strategy, page(HOME, ["http://a.example/g", "http://a.example/b"]))
    good = turn(strategy, page("http://a.example/g", kids("g", 1), GOOD, HOME))
    bad = turn(strategy, page("http://a.example/b", kids("b", 1), BAD, HOME))
    assert good[kids("g", 1)[0]] > bad[kids("b", 1)[0]]


def test_siblings_rise_with_a_success_and_fall_with_a_failure() -> None:
    strategy = make()
    first, second, third, fourth = kids("x", 4)
    start = turn(strategy, page(HOME, kids("x", 4)))
    up = turn(strategy, page(first, [], GOOD, HOME))
    assert up[third] > start[third]
    down = turn(strategy, page(second, [], BAD, HOME))
    assert down[third] < up[third]
    assert set(down) == {third, fourth}


def after_two(db: CrawlDb | None, *verdicts: Verdict) -> Learned:
    """Two pages of a list were visited; each leads on."""
    strategy = make(db, explore=0)
    turn(strategy, page(HOME, kids("x", 6)))
    for url, verdict in zip(kids("x", 2), verdicts, strict=True):
        turn(strategy, page(url, [f"{url}/on"], verdict, HOME))
    return strategy


def test_a_revised_verdict_moves_the_siblings_of_its_page_and_its_own_links() -> None:
    db = CrawlDb(":memory:").open()
    strategy = after_two(db, GOOD, GOOD)
    first, second, *others = kids("x", 6)
    before = {url: worth(strategy, url) for url in [*others, f"{first}/on", f"{second}/on"]}
    strategy.hear([(second, BAD), ("http://a.example/unknown", GOOD)])
    after = renew(strategy)
    assert all(after[url] < before[url] for url in [*others, f"{second}/on"])
    assert strategy.rate() == pytest.approx(after_two(None, GOOD, BAD).rate())
    restarted = make(db, explore=0)
    restarted.load(msgspec.json.decode(msgspec.json.encode(strategy.save())))
    assert [Waiting(restarted, url).evidence for url in before] == [Waiting(strategy, url).evidence for url in before]
    for each in (strategy, restarted):
        each.hear([(second, GOOD)])
    assert renew(restarted) == renew(strategy)


def test_a_page_that_labels_call_off_topic_still_counts_as_near() -> None:
    """A list of what is sought is off topic, as labels teach, but it leads there."""
    strategy = make()
    strategy.outcome(Verdict(0.9, True))
    plain, corrected = Verdict(0.1, False), Verdict(0.1, False, uncorrected=0.6)
    assert strategy.outcome(plain) < strategy.outcome(corrected) == strategy.outcome(Verdict(0.6, False))
    assert strategy.outcome(corrected) < strategy.outcome(Verdict(0.6, True))
    assert strategy.outcome(Verdict(0.8, True, uncorrected=0.3)) == strategy.outcome(Verdict(0.8, True))


def test_another_process_hears_verdicts_revised_on_pages_of_an_earlier_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of URLs in memory are secrets of a process, so they mean nothing to the next one."""
    db = CrawlDb(":memory:").open()
    strategy = after_two(db, GOOD, GOOD)
    saved = msgspec.json.decode(msgspec.json.encode(strategy.save()))
    monkeypatch.setattr(addresses, "key", lambda url: hash(f"other secret {url}"))
    restarted = make(db, explore=0)
    restarted.load(saved)
    restarted.hear([(kids("x", 2)[1], BAD)])
    assert restarted.rate() == pytest.approx(after_two(None, GOOD, BAD).rate())


def test_of_many_revised_pages_some_are_rescored_at_a_time_and_the_rest_after_a_restart() -> None:
    db = CrawlDb(":memory:").open()
    strategy = make(db, explore=0)
    urls = kids("x", 3 * HEARD)
    for url in urls:
        turn(strategy, page(url, [f"{url}/on"], GOOD))
    strategy.hear([(url, BAD) for url in urls])
    assert len(renew(strategy)) <= HEARD + 1
    restarted = make(db, explore=0)
    restarted.load(msgspec.json.decode(msgspec.json.encode(strategy.save())))
    left = {url for _ in range(2) for url in renew(restarted)}
    assert 2 * HEARD <= len(left) <= 2 * HEARD + 2
    assert not restarted.heard_


def test_a_sibling_with_an_address_of_another_kind_rises_less() -> None:
    strategy = make(without=["words", "area", "place", "host"])
    like, unlike = "http://a.example/x/9.html", "http://a.example/deep/er/still/"
    turn(strategy, page(HOME, [*kids("x", 3), like, unlike]))
    turn(strategy, page(kids("x", 3)[0], [], GOOD, HOME))
    found = turn(strategy, page(kids("x", 3)[1], [], GOOD, HOME))
    assert found[like] > found[unlike]


def test_words_of_links_that_brought_something_help_links_elsewhere() -> None:
    strategy = make(without=["siblings", "part", "untested", "context", "area", "place", "host"])
    turn(strategy, page(HOME, kids("x", 4), words=["algebra", "algebra", "weather", "weather"]))
    for number, verdict in enumerate((GOOD, GOOD, BAD, BAD)):
        turn(strategy, page(kids("x", 4)[number], [], verdict, HOME))
    found = turn(strategy, page("http://b.example/", kids("y", 2), words=["algebra", "weather"]))
    assert found[kids("y", 2)[0]] > found[kids("y", 2)[1]]


def test_a_failure_says_nothing_of_the_topic_but_something_of_the_host() -> None:
    strategy = make()
    turn(strategy, page(HOME, kids("x", 3)))
    strategy.learn(Visit(Reply(Link(kids("x", 3)[0], HOME), error="timeout")))
    source = strategy.memory_.sources[0]
    assert source.tally is None
    assert strategy.surplus_.tallies[strategy.memory_.names["host a.example"]].tried == 1
    assert strategy.total_.tried == 10


def test_a_duplicate_is_held_against_its_siblings_only() -> None:
    strategy = make()
    turn(strategy, page(HOME, kids("x", 3)))
    visit = Visit(Reply(Link(kids("x", 3)[0], HOME), url=kids("x", 3)[0], status=200), duplicate_of=HOME)
    strategy.learn(visit)
    assert strategy.memory_.sources[0].tally.tried == 1
    assert strategy.surplus_.tallies == {}


def test_weights_are_not_learned_before_something_relevant_was_found() -> None:
    strategy = make()
    turn(strategy, page(HOME, kids("x", 12)))
    for url in kids("x", 6):
        turn(strategy, page(url, [], Verdict(0.0), HOME))
    assert strategy.weights_.values == list(PRIOR.values())
    for url in kids("x", 12)[6:]:
        turn(strategy, page(url, [], GOOD, HOME))
    assert strategy.weights_.values != list(PRIOR.values())


def test_the_links_that_led_to_a_relevant_page_get_credit() -> None:
    found = {}
    for credit in (0.0, 0.35):
        strategy = make(credit=credit)
        turn(strategy, page(HOME, ["http://a.example/list/1.html", "http://a.example/list/2.html"]))
        turn(strategy, page("http://a.example/list/1.html", kids("x", 2), BAD, HOME))
        scores = turn(strategy, page(kids("x", 2)[0], [], GOOD, "http://a.example/list/1.html"))
        found[credit] = scores["http://a.example/list/2.html"]
    assert found[0.35] > found[0.0]


def test_the_more_links_wait_untried_the_more_a_try_is_worth() -> None:
    only = [name for name in PRIOR if name != "untested"]
    few = turn(make(without=only), page(HOME, kids("x", 2)))
    many = turn(make(without=only), page(HOME, kids("x", 30)))
    assert many[kids("x", 1)[0]] > few[kids("x", 1)[0]]


def test_words_of_links_far_down_a_list_are_counted_once_one_is_fetched() -> None:
    strategy, count = make(), COUNTED + 5
    turn(strategy, page(HOME, kids("x", count), words=["weather"] * (count - 1) + ["algebra"]))
    links, last = strategy.memory_.links, kids("x", count)[-1]
    assert links.words(links.find(kids("x", count)[0]))
    assert not links.words(links.find(last))
    fetched = page(last, kids("y", 1), GOOD, HOME)
    algebra = replace(fetched, reply=replace(fetched.reply, link=replace(fetched.reply.link, anchor="algebra")))
    found = turn(strategy, algebra)
    assert strategy.surplus_[strategy.memory_.names[anchor_word("algebra")]] > 0
    assert found  # and the page it led to has its credit
    assert list(links.words(strategy.memory_.sources[-1].up))


def test_of_a_long_list_only_some_wait_with_their_full_score_until_they_are_called_up() -> None:
    strategy = make()
    count = CALLED + 10
    scores = turn(strategy, page(HOME, kids("x", count)))
    called = [url for url in kids("x", count) if scores[url] > max(scores.values()) / 10]
    assert len(called) == CALLED
    held = [url for url in kids("x", count) if url not in called]
    assert all(scores[url] <= HELD_BACK for url in held)
    renewed = turn(strategy, page(called[0], [], BAD, HOME))
    assert sum(url in renewed for url in held) == 1


def test_a_url_is_watched_through_its_first_pages_only() -> None:
    strategy = make()
    everywhere = "http://a.example/everywhere"
    for number in range(SOURCES + 3):
        turn(strategy, page(f"http://a.example/{number}", [everywhere]))
    link = Waiting(strategy, everywhere)
    assert len(link.found) == SOURCES


def test_a_url_found_again_on_a_better_page_rises() -> None:
    strategy = make(CrawlDb(":memory:").open())
    again = "http://a.example/again"
    before = turn(strategy, page(HOME, [again, "http://a.example/g", "http://a.example/b"]))[again]
    after = turn(strategy, page("http://a.example/g", [again], GOOD, HOME))[again]
    assert after > before
    assert Waiting(strategy, again).best is strategy.memory_.sources[1]
    restarted = make(strategy.db_)
    restarted.load(strategy.save())
    assert Waiting(restarted, again).best is restarted.memory_.sources[1]


@pytest.mark.parametrize(
    ("fetched", "twin"),
    [
        ("http://a.example/x/", "http://a.example/x/index.html"),
        ("http://a.example/x/index.html", "http://a.example/x"),
        ("http://a.example/x", "http://a.example/x/"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_another_address_of_a_page_that_was_fetched_comes_last(fetched: str, twin: str, late: bool) -> None:
    strategy = make(CrawlDb(":memory:").open())
    turn(strategy, page(HOME, [fetched, *([] if late else [twin]), *kids("y", 3)]))
    scores = turn(strategy, page(fetched, [twin] if late else [], GOOD, HOME))
    assert scores[twin] < 0.01 < min(scores[url] for url in kids("y", 3))
    restarted = make(strategy.db_)
    restarted.load(strategy.save())
    assert Waiting(restarted, twin).twin == 1
    assert Waiting(restarted, kids("y", 1)[0]).twin == 0


def test_a_redirect_to_the_twin_itself_takes_both() -> None:
    strategy = make()
    asked, reached = "http://a.example/x", "http://a.example/x/"
    turn(strategy, page(HOME, [asked, reached]))
    hops = tuple(Exchange(url, b"", b"", b"", 0.0) for url in (asked, reached))
    strategy.learn(Visit(Reply(Link(asked, HOME), url=reached, status=200, exchanges=hops), verdict=GOOD))
    assert renew(strategy) == {}


def test_an_address_that_failed_says_nothing_of_its_twins() -> None:
    strategy = make()
    turn(strategy, page(HOME, ["http://a.example/x/", "http://a.example/x/index.html"]))
    strategy.learn(Visit(Reply(Link("http://a.example/x/", HOME), error="http 404")))
    assert Waiting(strategy, "http://a.example/x/index.html").twin == 0


def test_a_long_list_gives_its_link_no_more_credit_than_one_page() -> None:
    strategy = make(credit=1.0)
    turn(strategy, page(HOME, ["http://a.example/list/", "http://a.example/news/"]))
    turn(strategy, page("http://a.example/list/", kids("x", 12), BAD, HOME))
    for url in kids("x", 12):
        turn(strategy, page(url, [], GOOD, "http://a.example/list/"))
    assert strategy.memory_.sources[1].given == pytest.approx(MOST_CREDIT)
    assert strategy.memory_.sources[0].tally.good == pytest.approx(MOST_CREDIT + BAD.relevance / 2)


def test_what_was_asked_or_reached_by_a_redirect_no_longer_waits() -> None:
    strategy = make()
    asked, passed, reached = kids("x", 3)
    turn(strategy, page(HOME, [asked, passed, reached]))
    hops = tuple(Exchange(url, b"", b"", b"", 0.0) for url in (asked, passed, reached))
    strategy.learn(Visit(Reply(Link(asked, HOME), url=reached, status=200, exchanges=hops), verdict=GOOD))
    assert waiting(strategy) == renew(strategy) == {}
    assert len(strategy.memory_.links) == 0
    assert turn(strategy, page("http://b.example/", [passed]))[passed] == 0


def test_links_out_of_scope_take_no_room() -> None:
    strategy = Learned()
    refusals = lambda links: {link.url: "host" for link in links if "b.example" in link.url}  # noqa: E731
    connected(strategy, CrawlDb(":memory:").open(), refusals)
    turn(strategy, page(HOME, ["http://a.example/in", "http://b.example/out"]))
    assert list(waiting(strategy)) == ["http://a.example/in"]


def test_judges_differ_in_scale_and_the_outcome_does_not() -> None:
    generous, strict = make(), make()
    high = [generous.outcome(Verdict(r, r > 0.5)) for r in (0.8, 0.4, 0.2)]
    low = [strict.outcome(Verdict(r / 4, r > 0.5)) for r in (0.8, 0.4, 0.2)]
    assert high == pytest.approx([1.0, 0.25, 0.125])
    assert low == pytest.approx(high)


def test_a_judge_that_cannot_judge_a_few_words_and_has_no_classes_will_do() -> None:
    strategy = Learned()
    strategy.prepare(Path(), object())
    found = turn(strategy, page(HOME, kids("x", 2), Verdict(0.5)))
    assert all(0 < score < 1 for score in found.values())
    evidence = dict(zip(PRIOR, Waiting(strategy, kids("x", 1)[0]).evidence, strict=True))
    assert evidence["class"] == evidence["context"] == 0


def test_without_leaves_evidence_out_for_good() -> None:
    strategy = make(without=["cash", "depth"])
    turn(strategy, page(HOME, kids("x", 9)))
    for url in kids("x", 8):
        turn(strategy, page(url, [], GOOD, HOME))
    weights = dict(zip(PRIOR, strategy.weights_.values, strict=True))
    assert weights["cash"] == weights["depth"] == 0


def test_chance_is_seeded() -> None:
    one, same, other = (turn(make(seed=seed), page(HOME, kids("x", 3))) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_part_of_a_host_that_brought_nothing_is_left_for_others() -> None:
    strategy = make(without=[name for name in PRIOR if name != "area"], speed=0, explore=0)
    turn(strategy, page(HOME, [f"http://a.example/~{name}/{n}" for name in ("ann", "bob", "cat") for n in range(3)]))
    for number in range(2):
        turn(strategy, page(f"http://a.example/~ann/{number}", [], BAD, HOME))
        turn(strategy, page(f"http://a.example/~bob/{number}", [], GOOD, HOME))
    ann, bob, cat = (worth(strategy, f"http://a.example/~{name}/2") for name in ("ann", "bob", "cat"))
    assert ann < cat == bob  # one target does not make a part of a host full of them


def test_a_link_stays_where_it_is_queued_unless_its_score_has_changed_noticeably() -> None:
    strategy = make(explore=0)
    turn(strategy, page(HOME, kids("x", 6)))
    strategy.learn(page(kids("x", 6)[0], [], BAD, HOME))
    left = kids("x", 6)[1:]
    now = {url: worth(strategy, url) for url in left}
    queued = {
        NUMBERS[url]: now[url] * (1 + change) for url, change in zip(left, (0.0, 0.04, -0.04, 0.1, -0.1), strict=True)
    }
    strategy.scores_ = lambda: queued
    assert renew(strategy) == {url: now[url] for url in left[3:]}


def test_links_are_not_scored_twice_in_one_visit() -> None:
    strategy = make(explore=0)
    strategy.learn(page(HOME, kids("x", 3)))
    strategy.score(page(HOME, kids("x", 3)))
    assert renew(strategy) == {}  # it is this page's turn, but nothing was learned since
    strategy.learn(page("http://b.example/", []))
    assert [*renew(strategy)] == kids("x", 3)


def look_around(strategy: Learned, verdict: Verdict = BAD) -> dict[str, float]:
    """A seed with a list and another link, and five pages of the list, deeper links on each."""
    turn(strategy, page(HOME, [*kids("x", 6), "http://a.example/people"]))
    found = {}
    for number, url in enumerate(kids("x", 5)):
        found = turn(strategy, page(url, kids(f"y{number}", 3), verdict, HOME))
    return found


def test_while_nothing_tells_where_to_go_one_link_in_some_is_taken_from_the_top_of_the_host() -> None:
    strategy = make()
    assert [url for url, score in look_around(strategy).items() if score == 1.0] == kids("x", 6)[5:]
    assert [url for url, link in waiting(strategy).items() if link.turn] == kids("x", 6)[5:]
    assert strategy.idle_ == 0
    for url in (kids("x", 6)[5], *kids("y0", 2), *kids("y1", 2)):
        found = turn(strategy, page(url, [], BAD, HOME))
    assert found["http://a.example/people"] == 1.0  # the seed's last link comes before those of pages behind it


def test_a_crawl_that_starts_deep_looks_around_at_the_top_of_the_host_once_it_knows_it() -> None:
    db = CrawlDb(":memory:").open()
    strategy, deep = make(db, explore=1), "http://a.example/people/ann/notes/1.html"
    turn(strategy, page(deep, [*kids("people/ann/notes", 5), HOME]))
    assert turn(strategy, page(HOME, kids("top", 2), BAD, deep))[kids("top", 1)[0]] == 1.0
    restarted = make(db, explore=1)
    restarted.load(strategy.save())
    assert next_turn(restarted) == next_turn(strategy) == kids("top", 2)[1]


def test_nobody_looks_around_while_a_list_brings_something_or_where_it_is_not_wanted() -> None:
    for strategy, verdict in ((make(), GOOD), (make(explore=0), BAD)):
        assert max(look_around(strategy, verdict).values()) < 1.0
        assert not any(link.turn for link in waiting(strategy).values())


def test_a_look_around_leaves_twins_out_and_ends_when_all_had_their_turn() -> None:
    strategy = make(explore=1)
    turn(strategy, page(HOME, ["http://a.example/x", "http://a.example/x/", "http://a.example/y"]))
    first = turn(strategy, page("http://a.example/x", [], BAD, HOME))
    assert first["http://a.example/y"] == 1.0
    assert first["http://a.example/x/"] < 0.1
    turn(strategy, page("http://a.example/y", [], BAD, HOME))
    assert not Waiting(strategy, "http://a.example/x/").turn


def test_whose_turn_it_is_survives_a_restart_and_is_told() -> None:
    db = CrawlDb(":memory:").open()
    strategy, url = make(db), kids("x", 6)[5]
    look_around(strategy)
    db.put("state:strategy", msgspec.json.encode(strategy.save()).decode())
    restarted = make(db)
    restarted.load(msgspec.json.decode(db.get("state:strategy")))
    assert worth(restarted, url) == 1.0
    assert next_turn(restarted) == next_turn(strategy) != url
    assert told(db, url, 1.0, fetched=False).because.startswith("the crawl is exploring")
    turn(strategy, page(url, [], BAD, HOME, score=1.0))
    strategy.save()
    assert told(db, url, 1.0).because.startswith("the crawl is exploring")
    assert not told(db, url, 1.0).parts  # no evidence made this score


def next_turn(strategy: Learned) -> str:
    links = strategy.memory_.links
    return NUMBERS.url(links.ids[strategy.memory_.levels.turn(links.turns, links.twins)])


def kids_of(strategy: Learned) -> list[list[int]]:
    """The ids of the links that wait, by page."""
    return [[strategy.memory_.links.ids[row] for row in source.kids] for source in strategy.memory_.sources]


def test_a_seed_that_is_found_again_stays_one() -> None:
    assert make().merge(0.9, 0.4) == 0.9


def test_after_a_restart_everything_is_as_it_was() -> None:
    db = CrawlDb(":memory:").open()
    strategy = make(db)
    turn(strategy, page(HOME, ["http://a.example/list/", *kids("x", 40)]))
    turn(strategy, page("http://a.example/list/", kids("y", 5), BAD, HOME))
    for url in kids("y", 3):
        turn(strategy, page(url, [kids("x", 40)[3], *kids("z", 2)], GOOD, "http://a.example/list/"))
    restarted = make(db)
    restarted.load(msgspec.json.decode(msgspec.json.encode(strategy.save())))
    assert list(waiting(restarted)) == list(waiting(strategy)) != []
    for url, link in waiting(strategy).items():
        assert Waiting(restarted, url).evidence == link.evidence
    assert kids_of(restarted) == kids_of(strategy)
    last = page(kids("z", 1)[0], kids("w", 3), GOOD, kids("y", 1)[0])
    assert turn(strategy, last) == turn(restarted, last)


def test_its_state_stays_small_while_the_crawl_grows() -> None:
    strategy = make(CrawlDb(":memory:").open())
    for number in range(50):
        turn(strategy, page(f"http://a.example/{number}/", kids(str(number), 30)))
    assert len(msgspec.json.encode(strategy.save())) < 2_000


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_scores_stay_probabilities_whatever_comes(verdicts: list[tuple[float, bool]]) -> None:
    strategy = make()
    turn(strategy, page(HOME, kids("x", 40)))
    for url, (relevance, on_topic) in zip(kids("x", 40), verdicts, strict=False):
        found = turn(strategy, page(url, [f"{url}/more"], Verdict(relevance, on_topic, "c"), HOME))
        assert all(math.isfinite(score) and 0 <= score <= 1 for score in found.values())


def test_a_link_s_own_words_count_beside_those_around_it() -> None:
    strategy = make(without=[name for name in PRIOR if name != "own"])
    found = turn(strategy, page(HOME, [*kids("x", 4), "http://a.example/y/course/"], words=["a"] * 3 + ["course", "b"]))
    rest = kids("x", 3)
    assert found[kids("x", 4)[3]] == found["http://a.example/y/course/"] > max(found[url] for url in rest)


def test_neighbours_of_a_success_on_the_page_come_first() -> None:
    strategy = make(without=[name for name in PRIOR if name != "near"], speed=0.0)
    turn(strategy, page(HOME, kids("x", 30)))
    turn(strategy, page(kids("x", 1)[0], [], GOOD, HOME))
    turn(strategy, page(kids("x", 30)[29], [], BAD, HOME))
    found = [worth(strategy, url) for url in kids("x", 29)[1:]]
    assert found[0] == found[3] > found[4] == found[8] > found[9] == found[18] > found[-1]


class Classed(Glancing):
    """A topic with classes."""

    def targets(self, known: Sequence[str]) -> list[str]:
        return [name for name in known if name == "course"]


RULES = RuleBase(
    ["course", "list", "other"],
    {"list": {"course": 9, "other": 1}, "other": {"other": 1}},
    links={"course": LinkWords(0.0, {"“algebra”": 1.5, "/news": -1.0, "title mathemat": 1.0})},
    values={"course": LinkWords(0.0, {"“algebra”": 1.25, "/news": -1.0}), "other": LinkWords(2.0, {})},
)


def classed(folder: Path, db: CrawlDb | None = None, only: str = "leads") -> Learned:
    strategy = Learned(without=[name for name in PRIOR if name != only])
    strategy.prepare(folder, Classed())
    if db:
        connected(strategy, db)
    return strategy


def test_rules_between_classes_are_used_where_there_are_some(tmp_path: Path) -> None:
    save(RULES, tmp_path / "rules.json")
    strategy = classed(tmp_path)
    good = turn(strategy, page("http://a.example/l/", kids("x", 2), Verdict(0.1, False, "list")))
    bad = turn(strategy, page("http://a.example/o/", kids("y", 2), Verdict(0.1, False, "other")))
    assert min(good.values()) > max(score for url, score in bad.items() if "/y/" in url)


@pytest.mark.parametrize("only", ["elsewhere", "value"])
def test_where_words_led_elsewhere_counts_from_the_start_and_after_a_restart(tmp_path: Path, only: str) -> None:
    save(RULES, tmp_path / "rules.json")
    db = CrawlDb(":memory:").open()
    strategy = classed(tmp_path, db, only)
    good, bad, unknown = kids("x", 3)
    found = turn(strategy, page(HOME, [good, bad, unknown], words=["algebra", "weather", "news"]))
    assert found[good] > found[bad] == found[unknown]  # `news` is known in addresses only
    found |= turn(strategy, page("http://a.example/2", kids("news", 1)))
    assert found[kids("news", 1)[0]] == found[bad]  # words that led to nothing sought are held against no link
    (tmp_path / "rules.json").unlink()
    reading = classed(tmp_path, db, only)
    reading.load(strategy.save())
    assert [(link.elsewhere, link.value) for link in waiting(reading).values()] == [
        (link.elsewhere, link.value) for link in waiting(strategy).values()
    ]


def test_rules_of_other_classes_are_named(tmp_path: Path) -> None:
    save(RuleBase(["cat", "dog"], {"cat": {"dog": 1}}), tmp_path / "rules.json")
    with pytest.raises(BadInput, match=r"rules\.json: made for other classes"):
        classed(tmp_path)


def test_rules_of_an_older_version_are_used_and_it_is_told_what_they_lack(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "rules.json").write_text(
        '{"format": 2, "classes": ["course", "list"], "counts": {"list": {"course": 8}}, "words": {}, "pages": {}}'
    )
    assert classed(tmp_path).class_rules_.worth["list"] == pytest.approx(1.0)
    assert "rules.json: made by an older Lycosa" in caplog.text
    caplog.clear()
    save(RULES, tmp_path / "rules.json")
    classed(tmp_path)
    assert caplog.text == ""


def test_rules_that_were_found_on_the_way_survive_a_restart(tmp_path: Path) -> None:
    db = CrawlDb(":memory:").open()
    strategy = classed(tmp_path, db)
    turn(strategy, page(HOME, kids("x", 30), Verdict(0.1, False, "list")))
    for number, url in enumerate(kids("x", 25)):
        turn(strategy, page(url, [f"{url}/on"], GOOD if number % 2 else BAD, HOME))
    assert strategy.class_rules_.worth["list"] == pytest.approx(0.5)
    restarted = classed(tmp_path, db)
    restarted.load(msgspec.json.decode(msgspec.json.encode(strategy.save())))
    assert restarted.class_rules_.counts == strategy.class_rules_.counts
    assert restarted.class_rules_.worth == strategy.class_rules_.worth


# -- in a crawl --------------------------------------------------------------------------------------------------------


class Topical:
    """On topic is a page that uses the topic's words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = set(words)

    async def judge(self, found: Page) -> Verdict:
        relevance = self.relevance_of(found.words)
        return Verdict(relevance, relevance >= 0.5)

    def relevance_of(self, words: Sequence[str]) -> float:
        return min(1.0, 8 * sum(word in self.words for word in words) / (len(words) or 1))


WEBS = [
    GeneratedWeb(pages=400, hosts=10, seed=seed, text=Text(size_bytes=(600, 1_200)), links=Links(count=(5, 15)))
    for seed in (3, 4, 5)
]


def crawl(web: GeneratedWeb, strategy: Learned) -> LabCrawl:
    judge = Topical(web.words_of("law"))
    strategy.prepare(Path(), judge)
    return crawl_web(SiteWeb(web), web.seeds(80, 3), judge, strategy, 80)


def test_the_same_crawl_twice() -> None:
    first, second = crawl(WEBS[0], Learned()), crawl(WEBS[0], Learned())
    assert [fetch.url for fetch in first.fetches] == [fetch.url for fetch in second.fetches]


def test_it_finds_more_than_a_blind_crawl() -> None:
    found, blind = (
        sum(web.topic_of(fetch.final_url) == "law" for web in WEBS for fetch in crawl(web, make_one()).pages)
        for make_one in (Learned, lambda: Learned(without=list(PRIOR)))
    )
    assert found > 2 * blind


def test_each_link_can_be_explained_and_what_was_learned_told(tmp_path: Path) -> None:
    db = CrawlDb(tmp_path / "crawl.db").open()
    strategy = make(db)
    *_, asked_url, _, waiting_url = kids("x", 6)
    scores = turn(strategy, page(HOME, kids("x", 6), words=["course"] * 4 + ["weather"] * 2))
    for url in kids("x", 4):
        taken = scores[url]
        scores |= turn(strategy, page(url, [], GOOD, HOME, score=taken))
    db.put("state:strategy", msgspec.json.encode(strategy.save()).decode())
    db.commit()
    db.close()
    reading = CrawlDb(tmp_path / "crawl.db", readonly=True).open()
    asked, waits = told(reading, asked_url, taken), told(reading, waiting_url, scores[waiting_url], fetched=False)
    assert IN_WORDS["siblings"] in asked.parts
    for explanation, score in ((asked, taken), (waits, scores[waiting_url])):
        assert explanation.total == "log-odds"
        assert sum(explanation.parts.values()) == pytest.approx(math.log(score / (1 - score)), abs=0.0006)
        _, *parts = explanation.parts.values()
        assert list(map(abs, parts)) == sorted(map(abs, parts), reverse=True)
        assert next(iter(explanation.parts)) == START
    sections = learned(reading)
    assert sections["words"]["“cours”"] > 0
    assert sections["hosts"]["a.example"] > 0
    assert len(sections["weight of evidence"]) == len(PRIOR)
    reading.close()


def test_what_another_version_knew_is_named() -> None:
    db = CrawlDb(":memory:").open()
    strategy = make(db)
    turn(strategy, page(HOME, kids("x", 3)))
    turn(strategy, page(kids("x", 3)[0], [], GOOD, HOME))
    state = strategy.save()
    older = {name: value for name, value in state.items() if name != "version"}  # counts in notes of their own
    with pytest.raises(BadInput, match=r"crawl\.db: .* another version"):
        make(db).load(older)
    state["weights"]["values"].pop()
    db.keep("learned reasons 000000009", NUMBERS[kids("x", 3)[0]].to_bytes(4, "little") + b"other")
    db.put("state:strategy", msgspec.json.encode(state).decode())
    older = {name: value for name, value in state.items() if name != "batches"}  # each link in a note of its own
    read_older = lambda: make(db).load(older)  # noqa: E731
    for read in (read_older, lambda: make(db).load(state), lambda: learned(db), lambda: told(db, kids("x", 3)[0], 0.5)):
        with pytest.raises(BadInput, match=r"crawl\.db: .* another version"):
            read()


def test_a_url_made_to_share_the_hash_of_another_does_not_hide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can compute an unkeyed hash, and so make an address that shares that of a page which is to be hidden."""
    monkeypatch.setattr(xxhash, "xxh3_64_intdigest", lambda data, seed=0: 7)
    db = CrawlDb(":memory:").open()
    strategy, victim = make(db), "http://b.example/victim/"
    turn(strategy, page(HOME, ["http://evil.example/forged/", "http://a.example/list"]))
    turn(strategy, page("http://evil.example/forged/", [], BAD, HOME))
    turn(strategy, page("http://a.example/list", [victim], BAD, HOME))
    assert not Waiting(strategy, victim).twin
    db.put("state:strategy", msgspec.json.encode(strategy.save()).decode())
    restarted = make(db)
    restarted.load(msgspec.json.decode(db.get("state:strategy")))
    assert not Waiting(restarted, victim).twin
    assert worth(restarted, victim) == worth(strategy, victim) > 0.001


def test_what_a_shard_has_learned_moves_another_in_the_same_way() -> None:
    one, other, fresh = make(), make(), make()
    one.share()
    other.share()
    targets = [f"http://b.example/{number}" for number in range(40)]
    turn(one, page(HOME, targets, words=["course" if number % 2 else "news" for number in range(40)]))
    for number, target in enumerate(targets):
        turn(one, page(target, [], GOOD if number % 2 else BAD, HOME))
        lesson = one.lesson()
        if lesson:
            other.study(msgspec.msgpack.decode(msgspec.msgpack.encode(lesson)))
    assert (one.lesson(), other.lesson()) == ({}, {}), "what came from others is not passed on"
    assert (other.total_.good, other.total_.tried) == (one.total_.good, one.total_.tried)
    assert other.weights_.save() == one.weights_.save() != fresh.weights_.save()
    later = page("http://c.example/", ["http://c.example/a", "http://c.example/b"], words=["course", "news"])
    course, news = turn(other, later).values()
    assert course > news
