"""The publications experiment: both crawlers on a small university, and on a recorded site."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.lab.reproduce import publications
from lycosa.lab.reproduce.effects import NOT_REPRODUCED, REPRODUCED
from lycosa.lab.reproduce.publications import (
    BASE,
    IMPROVED,
    PUBLISHED,
    Job,
    conclude,
    effects,
    ground,
    plan,
    points,
    work,
)
from lycosa.lab.reproduce.report import page
from lycosa.lab.reproduce.testbed import Request
from lycosa.lab.reproduce.university import University
from lycosa.types import BadInput

pytest.importorskip("tantivy", reason="the search needs tantivy")
TINY = University(seed=1, staff=30, full_time=10, part_time=8)


@pytest.fixture(autouse=True)
def few_other_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COURSES", 10), ("LECTURES", 3), ("NEWS", 40)):
        monkeypatch.setattr(f"lycosa.lab.reproduce.university.{name}", value)


def outcome(base: list[int], improved: list[int], linked: float = 0.27) -> dict[str, Any]:
    sides = {
        name: {"pages": 1_400, "found": counts, "first": 5} for name, counts in ((BASE, base), (IMPROVED, improved))
    }
    return {"site": 0, "linked": linked, "targets": 169, "search": {"steps": 3, "hits": 2, "queries": 9}, **sides}


def published(shift: int = 0) -> dict[str, Any]:
    both = list(PUBLISHED.values())
    return outcome([base for base, _ in both], [improved + shift for _, improved in both])


def test_marks_are_every_hundred_pages() -> None:
    assert points(350) == [100, 200, 300, 350]
    assert points(1_400) == list(PUBLISHED)
    assert points(50) == [50]


def test_the_plan_has_sites_with_more_people_linked() -> None:
    jobs = plan(Request())
    assert [job.university.linked for job in jobs] == [0.27] * 5 + [0.5] * 3 + [1.0] * 3
    assert len({(job.university.seed, job.university.linked) for job in jobs}) == 11


def test_both_crawlers_on_one_site() -> None:
    found = work(Job(Request(), TINY, 150))
    assert found["targets"] == len(TINY.publications())
    assert found[BASE]["found"][-1] > 0
    assert found[IMPROVED]["found"][-1] > found[BASE]["found"][-1]
    assert found["search"]["hits"] > 0
    assert found == work(Job(Request(), TINY, 150))


def test_the_published_figures_reproduce_themselves() -> None:
    found = effects([published(), published(2), published(1)], 1_400)
    assert [effect.outcome for effect in found] == [REPRODUCED] * 4
    assert found[0].measured.startswith("publication pages found: with search 118.0, baseline 45.0")


def test_without_a_gain_nothing_is_reproduced() -> None:
    same = list(range(14))
    found = effects([outcome(same, same), outcome(same, same)], 1_400)
    assert [effect.outcome for effect in found] == [NOT_REPRODUCED] * 4


def test_one_site_counts_by_direction() -> None:
    found = effects([published()], 1_400)
    assert [effect.outcome for effect in found] == [REPRODUCED] * 4
    assert "no test" in found[0].criterion


def test_the_tables_have_the_published_figures() -> None:
    rows = [published(), published(1), outcome([1] * 14, [2] * 14, 0.5), outcome([1] * 14, [2] * 14, 1.0)]
    text = page(conclude(Request(), rows))
    assert "| 100 | 0 / 20 | 0.0 / 20.0 | 0.0 / 11.8 | ∞ |" in text
    assert "| 1400 | 45 / 117 | 3.2 / 8.4 | 26.6 / 69.2 | 2.6 |" in text
    assert "| 50% | 1 |" in text


def recorded(warcs: Any) -> Path:
    home = "http://www.uni.example"
    pages = {
        f"{home}/": "<a href='/people/'>people</a><a href='/news/1.html'>news</a>",
        f"{home}/people/": "<a href='/~ada/'>Ada</a>",
        f"{home}/~ada/": "<a href='publications.html'>papers</a>",
        f"{home}/~ada/publications.html": "<ul><li>(2004) Hunting Habits of Wolf Spiders, Journal.</li></ul>",
        f"{home}/~bob/papers.html": "<ul><li>(2004) Hunting Habits of Wolf Spiders, Journal.</li><li>x</li></ul>",
        f"{home}/news/1.html": "<p>Nothing new.</p>",
        "http://www.other.example/~eve/papers.html": "<p>not ours</p>",
    }
    path: Path = warcs.pages("uni.warc.gz", pages)
    return path


def test_a_recorded_site(warcs: Any) -> None:
    request = Request(web=str(recorded(warcs)), pages=20, seeds=("www.uni.example",))
    (job,) = plan(request)
    found = work(job)
    assert found["targets"] == 2
    assert found[BASE]["found"][-1] == 1
    assert found[IMPROVED]["found"][-1] == 2
    assert "the class of the URL" in conclude(request, [found]).ours


def test_labels_tell_the_truth(warcs: Any, tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("http://www.uni.example/~ada/publications.html\tpublication\n", encoding="utf-8")
    request = Request(web=str(recorded(warcs)), labels=str(labels), pages=20)
    assert ground(plan(request)[0]).targets == {"http://www.uni.example/~ada/publications.html"}


def test_a_site_without_targets(warcs: Any) -> None:
    path = warcs.pages("empty.warc.gz", {"http://a.example/x/y/z.html": "nothing"})
    with pytest.raises(BadInput, match="no page of publication below"):
        ground(plan(Request(web=str(path)))[0])
    assert publications.TARGET == "publication"
