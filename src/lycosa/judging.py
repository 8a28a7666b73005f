"""Call the judge with care: a bug in it costs a page, not the crawl, unless it fails on every page.

Each distinct bug is logged once with its traceback; how often it struck is told by the count of `judge` errors.
"""

import logging

from lycosa.errors import PluginError, described
from lycosa.types import Judge, Page, Verdict

MOST_FAILURES = 20  # pages at the start of a run: a judge that fails on all of them will not judge the next one either
_MOST_LOGGED = 100

_log = logging.getLogger(__name__)


class Failed(Exception):
    """The judge failed on one page; the message says how."""


class Judging:
    """Counts the failures of a judge in one run."""

    def __init__(self) -> None:
        self._failures = 0
        self._works = False  # has it judged any page?
        self._logged: set[tuple[type, str, int]] = set()

    async def verdict(self, judge: Judge, page: Page) -> Verdict:
        """What the judge says; Failed if it breaks, PluginError if it never does anything else."""
        try:
            verdict = await judge.judge(page)
        except Exception as error:  # whatever a stranger's code does
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


def _module(judge: Judge) -> str:
    """Where the code of a judge is; of one around another, that of the other."""
    return type(getattr(judge, "inner", judge)).__module__
