"""A crawl that is being described: uploaded files and sample pages, kept in a temporary folder until it is created."""

import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lycosa import sampling
from lycosa.errors import BadInput, LycosaError, described
from lycosa.sampling import Sample

_MOST_DRAFTS = 20
_MOST_FILES = 5_000
_CLOSE_S = 2.0
_ID = re.compile(r"[\w-]{16,64}")
_PART = re.compile(r"[^\w .-]")
SHELVES = ("positive", "negative", "taxonomy", "ontology")  # what an uploaded file is for


class Draft:
    """One draft. Sample pages arrive in the background."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lycosa-draft-", ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name) / "crawl"
        self.folder.mkdir()
        self.samples: list[Sample] = []
        self.problem = ""  # why there are no samples, or no more
        self._sampled = 0  # how often samples were asked for
        self._thread: threading.Thread | None = None

    @property
    def is_sampling(self) -> bool:
        return bool(self._thread and self._thread.is_alive())

    def sample(self, pages: Iterable[Sample]) -> None:
        """Replace the samples."""
        self._sampled += 1
        self.samples, self.problem = [], ""
        self._thread = threading.Thread(target=self._collect, args=(pages, self._sampled), daemon=True)
        self._thread.start()

    def sample_web(self, seeds: Sequence[str], fetch: Mapping[str, Any]) -> None:
        place = Path(self._folder.name) / f"samples{self._sampled}"
        self.sample(sampling.from_web(place, seeds, fetch))

    def _collect(self, pages: Iterable[Sample], number: int) -> None:
        try:
            for page in pages:
                if number != self._sampled:
                    return  # others are wanted by now
                self.samples.append(page)
            if not self.samples and number == self._sampled:
                self.problem = "no page could be fetched from these seeds"
        except LycosaError as error:
            self.problem = str(error)
        except Exception as error:  # a thread has nobody to raise it to
            self.problem = described(error)

    def keep(self, shelf: str, name: str, body: bytes) -> None:
        """Store an uploaded file. Its name comes from the browser: only harmless characters are kept."""
        if shelf not in SHELVES:
            raise BadInput(f"{shelf[:20]}: there is no such kind of file")
        parts = [_PART.sub("_", part).strip(" .") for part in name.replace("\\", "/").split("/")]
        parts = [part[:100] for part in parts if part]
        if not parts:
            raise BadInput("a file without a name")
        if len(self.files()) >= _MOST_FILES:
            raise BadInput(f"more than {_MOST_FILES:,} files")
        if shelf == "ontology":
            for file in self.files("ontology"):
                (self.folder / file).unlink()
        if shelf != "taxonomy":  # only there the folders mean something
            parts = parts[-1:]
        elif len(parts) > 2:
            parts = parts[1:]  # the folder that was chosen is the tree
        target = self.folder.joinpath("examples" if shelf in ("positive", "negative") else "", shelf, *parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)

    def files(self, shelf: str = "") -> list[str]:
        """Names of the files of a kind, relative to the folder."""
        place = self.folder / ("examples" if shelf in ("positive", "negative") else "") / shelf
        return sorted(str(path.relative_to(self.folder)) for path in place.rglob("*") if path.is_file())

    def move_to(self, folder: Path) -> None:
        """The files become those of the new crawl."""
        for path in self.folder.iterdir():
            shutil.move(path, folder / path.name)

    def close(self) -> None:
        """Stop fetching samples after the request in flight, and delete the files."""
        self._sampled += 1
        if self._thread:
            self._thread.join(_CLOSE_S)
        self._folder.cleanup()


class Drafts:
    """The drafts that are open in browsers."""

    def __init__(self) -> None:
        self._drafts: dict[str, Draft] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Draft:
        """A draft by the name that its page has; made when it is needed first."""
        if not _ID.fullmatch(name):
            raise BadInput("this page is out of date; load it again")
        with self._lock:
            if name not in self._drafts:
                while len(self._drafts) >= _MOST_DRAFTS:
                    self._drafts.pop(next(iter(self._drafts))).close()
                self._drafts[name] = Draft()
            return self._drafts[name]

    def drop(self, name: str) -> None:
        with self._lock:
            if draft := self._drafts.pop(name, None):
                draft.close()

    def close(self) -> None:
        for name in [*self._drafts]:
            self.drop(name)
