"""The documentation builds as a site, with every page in its navigation and every link leading somewhere."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
missing = [name for name in ("mkdocs", "material", "mkdocstrings") if not importlib.util.find_spec(name)]
pytestmark = pytest.mark.skipif(bool(missing), reason="the site needs pip install 'lycosa[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr  # strict: a page outside the navigation or a dead link is an error
    return out


def test_every_page_is_there(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix().removesuffix(".md").replace("README", "index")
        assert (site / f"{name}.html").exists(), name


def test_the_reference_has_the_docstrings(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    for words in (
        "lycosa.CrawlFolder.crawl",
        "Start or continue the crawl",
        "lycosa.compare",
        "lycosa.Topic.test",
    ):
        assert words in text


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in text
    assert 'rel="stylesheet" href="http' not in text
