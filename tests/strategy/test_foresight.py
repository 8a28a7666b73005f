"""The crawl of bench/foresight.py scores links by what it is told: a bound that the strategy ignores says nothing."""

import importlib
import sys
from pathlib import Path

import pytest

from lycosa.strategy.learned import Learned
from lycosa.strategy.online_logistic import Weighed

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.skipif(not BENCH.exists(), reason="the bench is not part of this copy")
def test_what_is_behind_a_link_raises_its_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)
    foresight = importlib.import_module("foresight")

    class Behind:
        clicks = 1

        def behind(self, url: str) -> set[str]:
            return {"http://a/target"} if url == "http://a/list" else set()

        def farther(self, url: str) -> set[str]:
            return set()

    crawl = foresight.Foresight(answers=Behind())
    monkeypatch.setattr(Learned, "weigh", lambda self, rows: [Weighed(0.5, [], [], 0.0) for _ in rows])
    crawl.memory_.urls.update({1: "http://a/list", 2: "http://a/page"})
    one, other = crawl.weigh([1, 2])
    assert one.score > other.score
    for name in ("foresight", "remembering", "starts", "ablation"):
        sys.modules.pop(name, None)
