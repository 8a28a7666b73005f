"""The suites that come with Lycosa check a plug-in: three lines each."""

from lycosa_example_plugin import Mentions, ShallowFirst

from lycosa.contract import check_judge, check_strategy


def test_mentions():
    check_judge(lambda: Mentions("web"))


def test_shallow_first():
    check_strategy(ShallowFirst)
