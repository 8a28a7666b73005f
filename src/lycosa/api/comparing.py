"""Compare strategies in the lab, from a program."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from lycosa.lab import compare as comparing
from lycosa.lab import tasks
from lycosa.lab.results import Results, Run
from lycosa.lab.tasks import Comparison, Task
from lycosa.types import BadInput

if TYPE_CHECKING:
    import pandas as pd

_CURVES = ("order", "found", "harvest", "relevance", "seconds")


class Compared:
    """The results of a comparison: a row of figures for each run, and the runs themselves with their curves."""

    def __init__(self, results: Results) -> None:
        self.results = results

    @property
    def runs(self) -> list[Run]:
        return self.results.runs

    def rows(self) -> list[dict[str, Any]]:
        """Task, strategy, area under the recall curve, recall at shares of the budget, harvest rate, pages."""
        found = []
        for run in self.runs:
            row = {name: getattr(run, name) for name in run.__struct_fields__ if name not in (*_CURVES, "recall")}
            found.append({**row, **{f"recall_{share}": value for share, value in run.recall.items()}})
        return found

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a `pandas.DataFrame`; needs `pip install 'lycosa[notebook]'`."""
        try:
            import pandas as pd
        except ImportError:
            raise BadInput("a DataFrame needs pandas: pip install 'lycosa[notebook]'") from None
        return pd.DataFrame(self.rows())


def compare(
    web: str | Path, strategies: Sequence[str] = (), out: Path | str | None = None, jobs: int = 1, **options: Any
) -> Compared:
    """Run strategies on the same web in the lab, without a network, and compare what they find.

    ```python
    found = lycosa.compare("generated:pages=2000,hosts=20", ["best-first", "learned"], target=["astronomy"], pages=200)
    found.to_pandas()[["strategy", "area", "harvest_rate"]]
    ```

    Args:
        web: A WARC, a folder of WARCs, a crawl folder, `generated:...`, or a .toml file with tasks.
        strategies: The strategies to compare, in addition to `breadth-first`, `random` and the `oracle`.
        out: A folder for the results, so that a stopped comparison can be continued; none by default.
        jobs: The number of processes.
        options: The keys of a task or of a comparison file: `target`, `labels`, `seeds`, `topic`, `train`, `pages`,
            `repeat`, `oracle`, `field`, ...
    """
    plan = _plan(str(web), list(strategies), options)
    if out is not None:
        return Compared(comparing.compare(plan, Path(out), jobs))
    with TemporaryDirectory() as folder:
        return Compared(comparing.compare(plan, Path(folder), jobs))


def _plan(web: str, strategies: list[str], options: dict[str, Any]) -> tasks.Plan:
    changes: dict[str, Any] = {"strategies": strategies} if strategies else {}
    if web.endswith(".toml"):
        return tasks.load(Path(web), **changes, **options)
    for_task = {name: value for name, value in options.items() if name in Task.__struct_fields__}
    changes |= {name: value for name, value in options.items() if name not in for_task}
    try:
        task = msgspec.convert({"name": "task", "web": web, **for_task}, Task)
        found = msgspec.convert({**changes, "task": [msgspec.to_builtins(task)]}, Comparison)
    except msgspec.ValidationError as error:
        raise BadInput(f"compare: {error}") from None
    return tasks.complete(found, Path())
