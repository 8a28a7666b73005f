"""The notebook in examples/ runs from its first cell to its last, in a running event loop as in Jupyter."""

import ast
import inspect
import json
from pathlib import Path
from types import CodeType
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "examples" / "notebook.ipynb"


async def run_cell(source: str, names: dict[str, Any]) -> Any:
    """As Jupyter does it: `await` is allowed, and the value of a last expression is what the cell shows."""
    tree = ast.parse(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.Assign([ast.Name("_shown", ast.Store())], tree.body[-1].value), tree.body[-1]
        )
        ast.fix_missing_locations(tree)
    code: CodeType = compile(tree, str(NOTEBOOK), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names["_shown"] = None
    running = eval(code, names)
    if inspect.iscoroutine(running):
        await running
    return names["_shown"]


async def test_every_cell_runs_and_shows_what_it_promises() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells), "clear the outputs"
    names: dict[str, Any] = {}
    _, verdict, summary, best, page, compared = [await run_cell("".join(cell["source"]), names) for cell in cells]
    assert verdict[1]
    assert summary["pages"] == 80
    assert summary["ended"] == "limit of 80 pages"
    assert len(best) == 5
    assert best.relevance.is_monotonic_decreasing
    assert page[1] > 50
    areas = dict(zip(compared.strategy, compared.area, strict=True))
    assert areas["learned"] > areas["breadth-first"]
