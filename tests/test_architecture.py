"""The folders are the arrows of the picture: a module imports only from lower ranks, and no stage another stage."""

import ast
import re
import statistics
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "lycosa"
RANKS = {
    "errors": -1,
    "types": 0,
    **dict.fromkeys(["urls", "text", "config", "clock", "judging", "log", "events", "control", "process"], 1),
    **dict.fromkeys(
        ["loops", "plugins", "effects", "files", "outcomes", "lessons", "decode", "locking", "url_words"], 1
    ),
    **dict.fromkeys(["ontology", "graph", "store"], 2),
    **dict.fromkeys(["seeds", "frontier", "fetch", "parse", "judge", "strategy", "output", "estimate"], 3),
    **dict.fromkeys(["crawl", "pages", "stamp", "summary", "plugged", "contract", "recalling", "mining"], 4),
    **dict.fromkeys(["assembly", "build", "search_index"], 5),
    **dict.fromkeys(["run", "starting", "lab", "rejudge", "topics"], 6),
    **dict.fromkeys(["session", "again", "remote", "explaining"], 7),
    "shards": 8,
    **dict.fromkeys(["offline", "api"], 9),
    **dict.fromkeys(["labelling", "sampling"], 10),
    "console": 11,
    "cli": 12,
    "__main__": 13,
}
SAME_RANK = {("build", "assembly"), ("lab", "run"), ("run", "starting")}
MODULES = sorted(PACKAGE.rglob("*.py"))
STORE = PACKAGE / "store"
SQL = re.compile(r"\bSELECT\b.*\bFROM\b|\bINSERT (OR \w+ )?INTO\b|\bUPDATE\b.*\bSET\b|\bDELETE FROM\b", re.DOTALL)
MOST_LINES = 400
MEDIAN_LINES = 130
MOST_FUNCTION_LINES = 40
LEAST_TESTS = 1.3  # lines of tests for each line of code


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


# -- whose attributes are they? ---------------------------------------------------------------------------------------

PUBLIC = {"_asdict", "_replace", "_make", "_fields", "_value_"}  # of named tuples and enums: private in name only
FOREIGN = {"os._exit", "atexit._run_exitfuncs", "self._session._retry_connection"}  # of other packages: no other way


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def is_own(node: ast.expr) -> bool:
    """Whether an attribute is looked up on the object itself, its class or its base."""
    return ast.unparse(node) in ("self", "cls", "super()")


def defined_in(tree: ast.AST) -> set[str]:
    """The attributes that the classes of a module define, in their bodies and through `self`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.AnnAssign | ast.Assign):
                    targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                    found |= {target.id for target in targets if isinstance(target, ast.Name)}
                elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.add(part.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            found.add(node.attr)
    return found


def private_uses(tree: ast.AST) -> list[str]:
    """Private names of other modules: imported, or looked up on something that is not the object itself."""
    found, own = [], defined_in(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found += [f"import of {alias.name}" for alias in node.names if is_private(alias.name)]
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
            if node.attr not in own and ast.unparse(node) not in FOREIGN:
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr", "delattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(name.value) and not is_own(node.args[0]):
                found.append(ast.unparse(node))
    return found


def folder_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def late_set(tree: ast.AST, own: set[str], others: set[str]) -> list[str]:
    """Attributes that a module sets on the objects of another folder: only a class of its own may have that name."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del) and not is_own(node.value):
            if node.attr in others - own:
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr", "object.__setattr__"):
            found += [] if is_own(node.args[0]) else [ast.unparse(node)]
    return found


TREES = {path: ast.parse(path.read_text()) for path in MODULES}
DEFINED: dict[str, set[str]] = {}
for _path, _tree in TREES.items():
    DEFINED.setdefault(folder_of(_path), set()).update(defined_in(_tree))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_uses_the_private_names_of_another(path: Path) -> None:
    assert private_uses(TREES[path]) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_sets_attributes_on_the_objects_of_another_part(path: Path) -> None:
    others = set().union(*(names for folder, names in DEFINED.items() if folder != folder_of(path)))
    assert late_set(TREES[path], DEFINED[folder_of(path)], others) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from lycosa.crawl import _failed", ["import of _failed"]),
        ("crawl._turn()", ["crawl._turn"]),
        ("getattr(crawl, '_turn')", ["getattr(crawl, '_turn')"]),
        ("self.parts._db.commit()", ["self.parts._db"]),
        ("class A:\n    def like(self, other): return self._a == other._a\n    def __init__(self): self._a = 1", []),
        ("visit._replace(url='')", []),
        ("super()._release()", []),
    ],
)
def test_the_check_finds_private_names(code: str, found: list[str]) -> None:
    assert private_uses(ast.parse(code)) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("crawl.fetcher = self", ["crawl.fetcher"]),
        ("self.parts.crawl.fetcher, x = self, 1", ["self.parts.crawl.fetcher"]),
        ("frontier.waiting += 1", ["frontier.waiting"]),
        ("del crawl.fetcher", ["crawl.fetcher"]),
        ("for crawl.fetcher in (): pass", ["crawl.fetcher"]),
        ("setattr(crawl, name, 1)", ["setattr(crawl, name, 1)"]),
        ("self.fetcher = None", []),
        ("column.justify = 'right'", []),  # of another package
        ("host.closed = ''", []),  # its own
    ],
)
def test_the_check_finds_attributes_set_from_outside(code: str, found: list[str]) -> None:
    assert late_set(ast.parse(code), {"closed"}, {"closed", "fetcher", "waiting"}) == found


def test_the_engine_has_more_tests_than_code() -> None:
    """In lines, comments and all: the loop, its tools and the stages that face the Web."""
    stages = ("frontier", "fetch", "parse", "seeds")
    code = [*PACKAGE.glob("*.py"), *(path for stage in stages for path in (PACKAGE / stage).rglob("*.py"))]
    here = Path(__file__).parent
    tests = [*here.glob("*.py"), *(here / "contract").glob("*.py")]
    tests += [path for stage in stages for path in (here / stage).rglob("*.py")]
    lines = [sum(len(path.read_text().splitlines()) for path in paths) for paths in (tests, code)]
    assert lines[0] >= LEAST_TESTS * lines[1]


def test_most_modules_are_short() -> None:
    assert statistics.median(len(path.read_text().splitlines()) for path in MODULES) <= MEDIAN_LINES
