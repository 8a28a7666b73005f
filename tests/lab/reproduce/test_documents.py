"""Every experiment from request to report: small, repeatable, and readable without the document."""

from pathlib import Path

import pytest

from lycosa.lab.reproduce import EXPERIMENTS, ontology, otie, publications, rules, tids
from lycosa.lab.reproduce.effects import CANNOT, NOT_REPRODUCED, REPRODUCED
from lycosa.lab.reproduce.report import Report, page
from lycosa.lab.reproduce.testbed import Request
from lycosa.strategy.publications import PRIORITIES

PUBLISHED = {  # some of the figures that must stand beside ours
    "rules": ["0.40", "+38%", "27%"],
    "tids": ["second much better than first", "third about like second"],
    "publications": ["117", "0.692", "0.149"],
    "otie": ["1437.93 ± 102.31", "2.86"],
    "ontology": ["≈ .60", "≈ .15", ".497", "+125 %"],
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, smaller_webs: None) -> None:
    """Few topics, few examples, few sites."""
    sizes = [
        *((rules, name, value) for name, value in (("TOPICS", 4), ("EXAMPLES", 6), ("LINKED", 12), ("WEBS", 1))),
        (rules, "TARGETS", 2),
        (tids, "TARGETS", 2),
        *((otie, name, value) for name, value in (("TARGETS", 2), ("POSITIVES", 8), ("NEGATIVES", 12))),
        (ontology, "TARGETS", 2),
        *((publications, name, value) for name, value in (("SITES", 2), ("FURTHER", 0))),
    ]
    for module, name, value in sizes:
        monkeypatch.setattr(module, name, value)
    for name, value in (("COURSES", 5), ("LECTURES", 2), ("NEWS", 20)):
        monkeypatch.setattr(f"lycosa.lab.reproduce.university.{name}", value)


def made(name: str, request: Request) -> Report:
    experiment = EXPERIMENTS[name]
    return experiment.conclude(request, [experiment.work(job) for job in experiment.plan(request)])


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_a_report_can_be_read(name: str, tiny: None) -> None:
    if name == "publications":
        pytest.importorskip("tantivy", reason="the search needs tantivy")
    report = made(name, Request(pages=24))
    text = page(report)
    assert all(len(part) > 100 for part in (report.claims, report.protocol, report.ours))
    assert report.caveats
    assert report.pictures
    assert "published" in text.lower()
    for figure in PUBLISHED[name]:
        assert figure in text, figure
    assert len(report.effects) >= 4
    for effect in report.effects:
        assert effect.claim.endswith(".")
        assert effect.criterion
        assert effect.measured or effect.outcome == CANNOT
        assert effect.outcome in (REPRODUCED, NOT_REPRODUCED, CANNOT)


@pytest.mark.parametrize("name", ["rules", "ontology"])
def test_the_same_request_the_same_report(name: str, tiny: None) -> None:
    assert page(made(name, Request(pages=16))) == page(made(name, Request(pages=16)))


def test_another_seed_another_web(tiny: None) -> None:
    one, other = (made("tids", Request(pages=16, seed=seed)) for seed in (0, 1))
    assert one.data != other.data


@pytest.mark.parametrize("name", ["rules", "tids", "otie"])
def test_a_real_web(name: str, webs: Path, cache: Path) -> None:
    """Two universities: examples from one, a short crawl of the other."""
    texas, wisconsin = (str(webs / f"webkb-{name}") for name in ("texas", "wisconsin"))
    request = Request(
        pages=40,
        web=f"{texas}.warc.gz",
        labels=f"{texas}.labels.tsv",
        train=((f"{wisconsin}.warc.gz", f"{wisconsin}.labels.tsv"),),
        target=("course",),
    )
    report = made(name, request)
    assert f"recorded web `{request.web}`" in report.ours
    assert "course" in page(report)


def test_publications_of_a_real_web(webs: Path, cache: Path) -> None:
    pytest.importorskip("tantivy", reason="the search needs tantivy")
    request = Request(pages=60, web=str(webs / "webkb-texas.warc.gz"), seeds=("http://www.cs.utexas.edu/",))
    (row,) = made("publications", request).data["sites"]
    assert row["targets"] > 3
    assert row[publications.BASE]["pages"] == 60
    assert publications.TARGET in PRIORITIES
