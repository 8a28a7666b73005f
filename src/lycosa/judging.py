"""Calls the judge safely: a bug in it costs a page, not the crawl, unless it fails on every page.

Each distinct bug is logged once with its traceback; the number of `judge` errors shows how often it occurred.
"""

import logging
from collections.abc import Sequence
from math import isfinite
from typing import Protocol, runtime_checkable

from lycosa.errors import PluginError, described
from lycosa.types import Judge, Page, TextRelevance, Verdict

MOST_FAILURES = 20  # pages at the start of a run: a judge that fails on all of them will also fail on the next
_MOST_LOGGED = 100

_log = logging.getLogger(__name__)


@runtime_checkable
class RatesTogether(Protocol):
    """A judge that rates all links of a page faster together than one by one."""

    def relevances_of(self, many: Sequence[Sequence[str]]) -> list[float]: ...


def text_relevances(judge: TextRelevance, many: Sequence[Sequence[str]]) -> list[float]:
    """The relevance of each text."""
    return judge.relevances_of(many) if isinstance(judge, RatesTogether) else [*map(judge.relevance_of, many)]


class Failed(Exception):
    """The judge failed on one page; the message describes the failure."""


class Judging:
    """Counts the failures of a judge in one run."""

    def __init__(self) -> None:
        self._failures = 0
        self._works = False  # whether it has judged any page
        self._logged: set[tuple[type, str, int]] = set()

    async def verdict(self, judge: Judge, page: Page) -> Verdict:
        """The judge's verdict. Raises Failed if the judge fails, PluginError if it has failed on every page so far."""
        try:
            verdict = _checked(await judge.judge(page))
        except Exception as error:  # third-party code may raise anything
            problem = described(error)
            self._note(error, judge, page)
            self._failures += 1
            if not self._works and self._failures >= MOST_FAILURES:
                told = f"{problem} (on each of the first {self._failures} pages)"
                raise PluginError("judge", _module(judge), told) from error
            raise Failed(f"{_module(judge)}: {problem}") from error
        self._works = True
        return verdict

    def _note(self, error: Exception, judge: Judge, page: Page) -> None:
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        key = (type(error), where.tb_frame.f_code.co_filename if where else "", where.tb_lineno if where else 0)
        if key not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(key)
            _log.error("a bug in the judge %s at %s", _module(judge), page.url, exc_info=error)


def _checked(verdict: Verdict) -> Verdict:
    """Anything but a verdict is a bug in the judge, and would only show elsewhere."""
    if not isinstance(verdict, Verdict):
        raise TypeError(f"judge returned {verdict!r:.80}, not a Verdict")
    if not isfinite(verdict.relevance):
        raise ValueError(f"a relevance of {verdict.relevance}")
    return verdict


def _module(judge: Judge) -> str:
    """The module of a judge; for a wrapper, that of the wrapped judge."""
    return type(getattr(judge, "inner", judge)).__module__
