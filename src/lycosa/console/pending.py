"""Questions that may take a while: answered at once if that is quick enough, else when they are asked again."""

import time
from collections.abc import Callable, Hashable
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from lycosa.errors import LycosaError

WAIT_S = 0.25  # how long a request waits for the answer
KEPT_S = 5.0  # how long an answer waits for whoever wanted it: later it would be out of date

Question = TypeVar("Question", bound=Hashable)
Found = TypeVar("Found")


class _Work(Generic[Found]):
    def __init__(self) -> None:
        self.found: Found | None = None
        self.problem: LycosaError | None = None
        self.done = Event()
        self.done_at = 0.0


class Pending(Generic[Question, Found]):
    """Works on each question in a thread of its own. An answer is given out once."""

    def __init__(self, work: Callable[[Question], Found], clock: Callable[[], float] = time.monotonic) -> None:
        self._work = work
        self._clock = clock
        self._open: dict[Question, _Work[Found]] = {}
        self._lock = Lock()

    def ask(self, question: Question, wait_s: float = WAIT_S) -> Found | None:
        """None if it takes longer: ask again for the answer."""
        with self._lock:
            self._forget_old()
            one = self._open.get(question)
            if not one:
                one = self._open[question] = _Work()
                Thread(target=self._run, args=(question, one), daemon=True).start()
        if not one.done.wait(wait_s):
            return None
        with self._lock:
            if self._open.get(question) is one:
                del self._open[question]
        if one.problem:
            raise one.problem
        return one.found

    def _forget_old(self) -> None:
        now = self._clock()
        for question, one in [*self._open.items()]:
            if one.done.is_set() and now - one.done_at > KEPT_S:
                del self._open[question]

    def _run(self, question: Question, one: _Work[Found]) -> None:
        try:
            one.found = self._work(question)
        except LycosaError as error:
            one.problem = error
        finally:
            one.done_at = self._clock()
            one.done.set()
