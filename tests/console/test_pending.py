"""Questions that take a while: who asks again gets the answer."""

from threading import Event

import pytest

from lycosa.console.pending import KEPT_S, Pending
from lycosa.errors import BadInput

LONG_S = 30.0  # longer than any answer takes here


def test_a_quick_answer_comes_at_once() -> None:
    pending: Pending[int, int] = Pending(lambda question: question * 2)
    assert pending.ask(21, LONG_S) == 42


def test_a_slow_answer_comes_when_asked_again_and_is_worked_out_once() -> None:
    may_end, began = Event(), list[str]()

    def work(question: str) -> str:
        began.append(question)
        may_end.wait(LONG_S)
        return question.upper()

    pending = Pending(work)
    assert pending.ask("slow", 0.0) is None
    assert pending.ask("slow", 0.0) is None
    may_end.set()
    assert pending.ask("slow", LONG_S) == "SLOW"
    assert began == ["slow"]
    assert pending.ask("slow", LONG_S) == "SLOW"  # asked again, computed again
    assert began == ["slow", "slow"]


def test_an_answer_that_nobody_fetched_in_time_is_worked_out_again() -> None:
    now, found, may_end = [0.0], iter([1, 2]), Event()

    def work(question: str) -> int:
        may_end.wait(LONG_S)
        return next(found)

    pending = Pending(work, lambda: now[0])
    assert pending.ask("many", 0.0) is None
    first = pending._open["many"]
    may_end.set()
    assert first.done.wait(LONG_S)
    now[0] = KEPT_S + 1
    assert pending.ask("many", LONG_S) == 2


def test_what_is_wrong_is_told_to_whoever_asked() -> None:
    def work(question: str) -> int:
        raise BadInput("no such host")

    pending = Pending(work)
    with pytest.raises(BadInput, match="no such host"):
        pending.ask("where", LONG_S)
