"""A link is worth the priority of its URL's class."""

from pathlib import Path

import msgspec
import pytest

from lycosa.contract import check_strategy
from lycosa.strategy.publications import Publications
from lycosa.strategy.url_classes import save
from lycosa.strategy.url_training import built_in, train
from lycosa.types import BadInput, Link, Page, Reply, Visit

PATH = ["cs/", "cs/acad_staff.html", "~kanmy/", "~kanmy/pubs.html", "courses/cs101/homework.html"]


def visit(*paths: str) -> Visit:
    links = [Link(f"http://www.comp.nus.edu.sg/{path}") for path in paths]
    return Visit(Reply(Link("http://www.comp.nus.edu.sg/")), Page(links=links))


@pytest.fixture
def strategy(tmp_path: Path) -> Publications:
    made = msgspec.convert({}, Publications)
    made.prepare(tmp_path, None)
    return made


def test_priorities_rise_along_the_path_to_a_publication_page(strategy: Publications) -> None:
    assert list(strategy.score(visit(*PATH))) == [0.7, 0.8, 0.9, 1.0, 0.0]


def test_nothing_is_dropped(strategy: Publications) -> None:
    urls = [url.split("/", 3)[3] for url, _ in built_in()]
    scores = strategy.score(visit(*urls))
    assert len(scores) == len(urls)
    assert min(scores) >= 0


def test_a_page_without_links_and_a_failure(strategy: Publications) -> None:
    failed = Visit(Reply(Link("http://a.org/"), error="timeout"))
    strategy.learn(failed)
    assert list(strategy.score(failed)) == []


def test_found_again_changes_nothing_but_for_a_seed(strategy: Publications) -> None:
    assert strategy.merge(0.9, 0.9) == 0.9
    assert strategy.merge(1e9, 0.9) == 1e9


def test_what_the_search_step_asks(strategy: Publications) -> None:
    url = "http://a.org/~ada/publications.html"
    assert strategy.is_target(url)
    assert strategy.priority(url) == strategy.target_score == 1.0
    assert not strategy.is_target("http://a.org/~ada/")


def labelled(folder: Path) -> str:
    lines = [f"http://a.org/courses/c{n}.html\tcourse\nhttp://a.org/people/p{n}.html\tperson" for n in range(10)]
    (folder / "labels.tsv").write_text("\n".join(lines))
    return "labels.tsv"


def test_any_classes_with_any_names(tmp_path: Path) -> None:
    strategy = Publications(target="course", priorities={"course": 2.0}, urls=labelled(tmp_path))
    strategy.prepare(tmp_path, None)
    assert list(strategy.score(visit("courses/new.html", "people/new.html"))) == [2.0, 0.0]
    assert strategy.target_score == 2.0


def test_a_trained_model(tmp_path: Path) -> None:
    save(train(built_in()), tmp_path / "url.model")
    strategy = Publications(model="url.model")
    strategy.prepare(tmp_path, None)
    assert list(strategy.score(visit(*PATH))) == [0.7, 0.8, 0.9, 1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"urls": "labels.tsv"}, "strategy.target: there is no class 'publication'"),
        ({"urls": "labels.tsv", "target": "course"}, "strategy.priorities: there is no class 'publication'"),
        ({"target": "paper"}, r"no class 'paper' \(there are: department, homepage"),
        ({"priorities": {"papers": 1.0}}, "no class 'papers'"),
        ({"priorities": {"publication": float("nan")}}, "nan for 'publication' is out of range"),
        ({"priorities": {"other": float("inf")}}, "inf for 'other' is out of range"),
        ({"urls": "none.tsv"}, "none.tsv: cannot be read"),
        ({"model": "none.model"}, "none.model: cannot be read"),
        ({"model": "a", "urls": "b"}, "either model or urls"),
    ],
)
def test_bad_options_are_one_clear_line(tmp_path: Path, options: dict[str, object], problem: str) -> None:
    labelled(tmp_path)
    strategy = msgspec.convert(options, Publications)
    with pytest.raises(BadInput, match=problem):
        strategy.prepare(tmp_path, None)


def test_it_keeps_to_the_contract(tmp_path: Path) -> None:
    def make() -> Publications:
        made = Publications()
        made.prepare(tmp_path, None)
        return made

    check_strategy(make)


def test_two_strategies_share_no_priorities() -> None:
    first, second = Publications(), Publications()
    first.priorities["publication"] = 5.0
    assert second.priorities["publication"] == 1.0
