"""Every crawl in examples/ runs as its first lines say, and finds pages of its subject on the web made for it."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from lycosa import config
from lycosa.clock import WallClock
from lycosa.lab import serve
from lycosa.lab.generated import GeneratedWeb, Text
from lycosa.lab.serve import Server
from lycosa.lab.vocabulary import EXAMPLES as TOPICS
from lycosa.lab.vocabulary import read_topics
from lycosa.run import Run
from lycosa.store.db import CrawlDb
from lycosa.types import BadInput

EXAMPLES = Path(__file__).parent.parent / "examples"
SUBJECTS = {
    "keywords": {"spiders"},
    "tids": {"spiders"},
    "sentence": {"spiders"},
    "examples": {"lighthouses"},
    "ontology": {"birds"},
    "taxonomy": {"astronomy", "geology"},
}
WEB = GeneratedWeb(text=Text(topics=TOPICS))


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/crawl.toml")))
async def test_it_runs_and_finds_its_subject(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES / name, tmp_path / name))
    path = folder / config.NAME
    async with Server(WEB) as server:
        path.write_text(path.read_text().replace(":8000/", f":{server.port}/"))
        settings, source = config.load(folder, ["fetch.delay_s=0.0", "fetch.concurrency=4", "limits.pages=60"])
        summary = await Run(folder, settings, source, WallClock()).run([], lambda _: None)
    assert summary["ended"] == "limit of 60 pages"
    db = CrawlDb(folder / "crawl.db", readonly=True).open()
    found = Counter(WEB.topic_of(url) for (url,) in db.execute("SELECT final_url FROM visits WHERE on_topic"))
    db.close()
    right = sum(found[subject] for subject in SUBJECTS[name])
    assert right >= 8, found
    assert right > 0.5 * found.total(), found


@pytest.mark.parametrize("name", SUBJECTS)
def test_its_first_lines_say_how_to_run_it(name: str) -> None:
    text = (EXAMPLES / name / config.NAME).read_text()
    assert "python -m lycosa.lab.serve --port 8000 --topics examples\n" in text
    assert f"cp -r examples/{name} " in text


def test_the_topics_of_a_served_web(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_topics("examples") == TOPICS
    assert read_topics("2") == ("astronomy", "cooking")
    with pytest.raises(BadInput, match="neither a number between 1 and 1000 nor 'examples'"):
        read_topics("many")
    assert serve.main(["--topics", "many"]) == 2
    assert "topics: 'many'" in capsys.readouterr().err
