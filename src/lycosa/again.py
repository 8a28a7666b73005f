"""`lycosa again`: start the next crawl from the best hubs of the last one, with what that one learned."""

import os
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from lycosa import config
from lycosa.graph import hits, make_graph
from lycosa.judge.model_file import NAME as MODEL
from lycosa.rejudge import GIVEN
from lycosa.store.db import CrawlDb
from lycosa.store.page_graph import read_page_graph
from lycosa.strategy.rule_base import NAME as RULES
from lycosa.types import BadInput

SEEDS = "seeds.txt"
STATE = "state:judge"
_PATHS = {  # keys that contain file names
    "topic": {"examples", "labels", "file"},
    "strategy": {"urls", "model"},
    "search": {"pages"},
    "recall": {"known"},
}


def make_next(directory: Path, new: Path, n_seeds: int, accepted: bool) -> int:
    """Create the folder of the next crawl, which starts from the best hubs of the last one and uses what that one
    learned.

    Returns the number of hubs.
    """
    _, source = config.load(directory)
    if new.exists() and (not new.is_dir() or any(new.iterdir())):
        raise BadInput(f"{new}: already exists")
    db = CrawlDb(directory / "crawl.db", readonly=True).open()
    try:
        hubs = best_hubs(db, n_seeds, accepted)
        state = db.get(STATE)
    finally:
        db.close()
    if not hubs:
        raise BadInput(
            f"{directory}: none of its pages links to another one of them, so there are no hubs to start from"
        )
    text = to_toml(next_config(tomllib.loads(source.text), source.path.parent, new))
    try:
        _write(new, text, hubs, state, source.path.parent)
    except OSError as error:
        raise BadInput(f"{new}: cannot be written: {error.strerror}") from None
    return len(hubs)


def best_hubs(db: CrawlDb, most: int, accepted: bool) -> list[tuple[str, float]]:
    """URL and hub score of the pages that link to the best authorities among the crawl's own pages, best first."""
    pages, sources, targets = read_page_graph(db, relevant_only=accepted)
    scores, _ = hits(make_graph(sources, targets, len(pages)))
    order = np.argsort(-scores, kind="stable")[:most].tolist()
    return [(pages[at], float(scores[at])) for at in order if scores[at] > 0]


def next_config(last: dict[str, Any], folder: Path, new: Path) -> dict[str, Any]:
    """The configuration of the next crawl: that of the last one, with other seeds. A set that has grown (tids)
    stays as it is now."""
    found = last | {"seeds": SEEDS}
    for section, names in _PATHS.items():
        if section in last:
            found[section] = _section_moved(section, names, last[section], folder, new)
    if found.get("topic", {}).get("kind") == "tids":
        found["topic"]["grow"] = False
        found["strategy"] = {"kind": "tids", "consecutive": True}
    return found


def _section_moved(section: str, names: set[str], keys: dict[str, Any], folder: Path, new: Path) -> dict[str, Any]:
    if section == "topic" and keys.get("kind") == "ontology":
        names = names | {"idf"}  # in a tids topic it is a formula, not a file
    if section == "topic" and keys.get("kind") == "sentence":
        names = names | {"model"}  # in a topic of examples it is a kind of model, not a folder
    if section == "recall" and isinstance(keys.get("known"), list):
        names = set()  # a list of URLs contains no file names
    return {name: _moved(value, folder, new) if name in names else value for name, value in keys.items()}


def _moved(value: str | list[str], folder: Path, new: Path) -> str | list[str]:
    """A path relative to the new folder."""
    if isinstance(value, list):
        return [str(_moved(item, folder, new)) for item in value]
    return os.path.relpath(folder / value, new) if value and not Path(value).is_absolute() else value


def to_toml(sections: dict[str, Any]) -> str:
    """A configuration as TOML: top-level keys first, then the sections."""
    single = [f"{name} = {_value(value)}" for name, value in sections.items() if not isinstance(value, dict)]
    lines = ["\n".join(single)]
    for name, keys in sections.items():
        if isinstance(keys, dict):
            lines.append("\n".join([f"[{name}]", *(f"{key} = {_value(value)}" for key, value in keys.items())]))
    return "\n\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Strings, numbers and lists look the same in TOML as in JSON; a JSON object becomes an inline table."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def _write(new: Path, text: str, hubs: list[tuple[str, float]], state: str, folder: Path) -> None:
    """Write to a temporary folder first, so that the new folder is either complete or not there at all."""
    target = Path(os.path.abspath(new))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as made:
        part = Path(made) / target.name
        part.mkdir()
        _fill(part, text, hubs, state, folder)
        part.replace(target)


def _fill(part: Path, text: str, hubs: list[tuple[str, float]], state: str, folder: Path) -> None:
    lines = [f"# the best hubs of {folder.resolve().name}, with their scores"]
    lines += [f"{url} # {score:.6f}" for url, score in hubs]
    (part / SEEDS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (part / config.NAME).write_text(f"# made by: lycosa again\n{text}", encoding="utf-8")
    for name in (MODEL, RULES):
        if (folder / name).exists():
            shutil.copyfile(folder / name, part / name)
    if state:
        db = CrawlDb(part / "crawl.db").open()
        db.put(STATE, state)
        db.put(GIVEN, state)
        db.commit()
        db.close()
