"""The folders are the arrows of the picture: a module imports only from lower ranks, and no stage another stage."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "lycosa"
RANKS = {
    "errors": -1,
    "types": 0,
    **dict.fromkeys(["urls", "text", "config", "clock", "judging", "log", "events", "control", "process"], 1),
    **dict.fromkeys(["loops", "plugins", "effects", "files", "outcomes"], 1),
    **dict.fromkeys(["ontology", "graph", "store"], 2),
    **dict.fromkeys(["seeds", "frontier", "fetch", "parse", "judge", "strategy", "output", "estimate"], 3),
    **dict.fromkeys(["crawl", "pages", "stamp", "summary", "plugged", "contract", "recalling"], 4),
    "search_index": 5,
    "build": 5,
    **dict.fromkeys(["run", "lab", "rejudge", "topics", "mining"], 6),
    **dict.fromkeys(["session", "again", "remote", "explaining"], 7),
    **dict.fromkeys(["offline", "api"], 8),
    **dict.fromkeys(["labelling", "sampling"], 9),
    "console": 10,
    "cli": 11,
    "__main__": 12,
}
SAME_RANK = {("lab", "run"), ("rejudge", "run")}  # the lab runs crawls, and both work under one lock
MODULES = sorted(PACKAGE.rglob("*.py"))
STORE = PACKAGE / "store"
SQL = re.compile(r"\bSELECT\b.*\bFROM\b|\bINSERT (OR \w+ )?INTO\b|\bUPDATE\b.*\bSET\b|\bDELETE FROM\b", re.DOTALL)
MOST_LINES = 400
MOST_FUNCTION_LINES = 40


def part_of(name: str) -> str:
    """`lycosa.fetch.http` belongs to `fetch`, the package itself to nothing."""
    return name.split(".")[1] if "." in name else ""


def imports(path: Path) -> set[str]:
    """Every lycosa module a file imports, inside functions and for type checking too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            if module == "lycosa":
                found |= {f"lycosa.{alias.name}" for alias in node.names}
            else:
                found.add(module)
    return {name for name in found if name.split(".")[0] == "lycosa" and part_of(name) in RANKS}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_lower_ranks(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    assert own in RANKS, f"{own} has no rank: give it one"
    for name in imports(path):
        other = part_of(name)
        allowed = other == own or RANKS[other] < RANKS[own] or (own, other) in SAME_RANK
        assert allowed, f"{path.name} imports {name}: rank {RANKS[other]} from rank {RANKS[own]}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno
            assert node.end_lineno - node.lineno < MOST_FUNCTION_LINES, node.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    text = path.read_text().strip()
    assert not text or ast.get_docstring(ast.parse(text))
    assert "pickle" not in text.replace("no pickle", "")


def sql_in(path: Path) -> list[str]:
    """What a module would say to a database: calls that run statements, and strings that look like one."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany", "executescript"):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sqlite3.connect":
            found.append("sqlite3.connect")
        elif isinstance(node, ast.ImportFrom) and node.module == "sqlite3":
            found += [f"sqlite3.{alias.name}" for alias in node.names if alias.name == "connect"]
        elif isinstance(node, ast.Constant | ast.JoinedStr) and SQL.search(text := ast.unparse(node)):
            found.append(text)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_store_speaks_sql(path: Path) -> None:
    if not path.is_relative_to(STORE):
        assert sql_in(path) == []
