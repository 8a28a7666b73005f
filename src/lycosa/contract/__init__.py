"""Test suites that check any part against what the crawler relies on. In a test of your own package:

    def test_my_strategy():
        check_strategy(MyStrategy)

Each raises AssertionError with a sentence that says what is wrong. They need no network and no test framework.
"""

from lycosa.contract.engine import check_engine
from lycosa.contract.fetcher import check_fetcher
from lycosa.contract.frontier import check_frontier
from lycosa.contract.judge import check_judge
from lycosa.contract.parser import check_parser
from lycosa.contract.sink import check_sink
from lycosa.contract.strategy import check_strategy

__all__ = [
    "check_engine",
    "check_fetcher",
    "check_frontier",
    "check_judge",
    "check_parser",
    "check_sink",
    "check_strategy",
]
