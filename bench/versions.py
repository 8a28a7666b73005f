"""CPU per page of several versions of Lycosa on the same web, in turn: did a change make the crawl slower?

python bench/versions.py old=/path/to/old/.venv/bin/python new=.venv/bin/python [--pages 1200] [--times 5]
"""

import compileall
import shutil
import statistics
import subprocess
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import HOSTS, run, served, web
from run import write_folder

_WHERE = "import lycosa; print(lycosa.__file__)"


def compile_package(python: str) -> None:
    """As pip does with packages that are not editable: otherwise a start would take longer than much of the crawl."""
    found = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True, check=True)
    compileall.compile_dir(Path(found.stdout.strip()).parent, quiet=1)


def crawl(python: str, folder: Path, seeds: list[str], pages: int) -> float:
    """Milliseconds of CPU per page of a new crawl with best-first and keywords."""
    shutil.rmtree(folder, ignore_errors=True)
    write_folder(folder, seeds, pages)
    return run([python, "-m", "lycosa", "crawl", str(folder), "--json"], folder.with_suffix(".out")).cpu_s / pages * 1e3


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("versions", nargs="+", metavar="NAME=PYTHON", help="the first one is the yardstick")
    parser.add_argument("--pages", type=int, default=1200)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    versions = dict(version.split("=", 1) for version in given.versions)
    for python in versions.values():
        compile_package(python)
    costs: dict[str, list[float]] = {name: [] for name in versions}
    site = web(given.pages * 10)
    with TemporaryDirectory() as work, served(site, cache_mb=500) as port:
        for time in range(given.times + 1):
            for name, python in versions.items():
                cost = crawl(python, Path(work) / name, site.seeds(port, HOSTS), given.pages)
                if time:  # the first round fills the cache of the server
                    costs[name].append(cost)
    first = next(iter(costs.values()))
    for name, found in costs.items():
        least, middle = min(found), statistics.median(found)
        shares = f"{least / min(first):.2f} and {middle / statistics.median(first):.2f} times the first"
        print(
            f"{name:10} {' '.join(f'{cost:.2f}' for cost in found)} ms; min {least:.2f}, median {middle:.2f}: {shares}"
        )


if __name__ == "__main__":
    main()
