"""What `import lycosa` offers: complete, documented, typed, and quick to import."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lycosa

ROOT = Path(__file__).parents[2]


def test_every_name_is_there_and_nothing_else_is_promised() -> None:
    assert sorted(lycosa.__all__) == lycosa.__all__
    assert {*lycosa._HOMES, "__version__"} == set(lycosa.__all__)
    assert set(lycosa.__all__) <= set(dir(lycosa))
    for name in lycosa.__all__:
        assert getattr(lycosa, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Spider'"):
        lycosa.Spider  # noqa: B018


def test_a_star_import_gives_them_all() -> None:
    names: dict[str, object] = {}
    exec("from lycosa import *", names)
    assert set(lycosa.__all__) <= set(names)


@pytest.mark.parametrize("name", [name for name in lycosa.__all__ if name != "__version__"])
def test_everything_public_says_what_it_is_for(name: str) -> None:
    found = getattr(lycosa, name)
    assert inspect.getdoc(found), name
    if inspect.isclass(found):
        own = {key: value for key, value in vars(found).items() if not key.startswith("_")}
        for key, value in own.items():
            if inspect.isfunction(value) or isinstance(value, classmethod | property):
                is_plain = isinstance(value, property) and key in ("kind", "runs")
                assert is_plain or inspect.getdoc(value), f"{name}.{key}"


@pytest.mark.parametrize("name", [name for name in lycosa.__all__ if name != "__version__"])
def test_everything_public_is_in_the_reference(name: str) -> None:
    assert f"::: lycosa.{name}\n" in (ROOT / "docs" / "api.md").read_text() or name in _TYPES
    assert f"`{name}`" in (ROOT / "docs" / "api.md").read_text() or name not in _TYPES


_TYPES = {"Link", "Reply", "Page", "Verdict", "Visit", "BadInput"}


def test_types_are_shipped() -> None:
    assert (Path(lycosa.__file__).parent / "py.typed").exists()


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, lycosa; print(*sorted(name for name in sys.modules if name.startswith('lycosa')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["lycosa"]
