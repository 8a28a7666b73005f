"""The judges of a task: trained once for all strategies and repetitions, then read from a file by each run."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import xxhash
from msgspec import Struct
from msgspec.structs import replace

from lycosa import __version__, build, config
from lycosa.judge import classifier, model_file
from lycosa.judge.corpus import digest, sources
from lycosa.judge.training import Learner
from lycosa.lab.answer import Pages
from lycosa.lab.recorded import warc_files
from lycosa.lab.replay import head_of
from lycosa.lab.tasks import Plan, Task, trained_on
from lycosa.lab.webs import GeneratedPages
from lycosa.lab.writing import make_folder, writing
from lycosa.pages import read_pages
from lycosa.store.warc import WarcWriter
from lycosa.strategy import rule_base
from lycosa.types import BadInput, Exchange, Prepares

MAIN = "main"  # the judge of all strategies that do not choose another
POSITIVE, OTHER = "positive", "other"
_TOPICS = "topics"  # the folder of trained judges
_FEW_WORDS = 8  # keywords of a generated topic

Miner = Callable[[Any, Path], rule_base.RuleBase]  # from a trained judge and the folder its paths are relative to


class Judging(Struct, frozen=True):
    """How to create a judge."""

    options: dict[str, Any]  # as in [topic]
    folder: str  # that its paths are relative to
    home: str  # where strategies find its files
    model: str = ""  # where the trained model is kept; empty if there is nothing to train

    def source(self) -> config.Source:
        return config.Source(Path(self.folder) / config.NAME, "")


class Makers(Struct, frozen=True):
    """Where judges are kept, and how rules are mined for them."""

    out: Path
    mine: Miner | None = None

    def main(self, task: Task, plan: Plan, web: Pages, drawn: Mapping[str, str]) -> Judging:
        """The judge of a task; `drawn` are examples sampled from its own web, by page."""
        if task.topic:
            return self.of_config(plan.home / task.topic)
        if task.sentence:
            return Judging({"kind": "sentence", "sentence": task.sentence}, str(self.out), str(self.out))
        if task.train:
            return self.trained(task, plan.folder, "examples")
        if drawn:
            return self._of_examples(task, web, drawn)
        assert isinstance(web, GeneratedPages)
        words = [word for topic in task.target for word in (topic, *web.site.words_of(topic)[:_FEW_WORDS])]
        return Judging({"kind": "keywords", "words": words}, str(self.out), str(self.out))

    def trained(self, task: Task, folder: Path, kind: str) -> Judging:
        """Trained on other webs, with their labels as classes."""
        pairs = [(file, labels) for web, labels in trained_on(task, folder) for file in warc_files(web)]
        options = {
            "kind": kind,
            "examples": [str(file.absolute()) for file, _ in pairs],
            "labels": [str(labels.absolute()) for _, labels in pairs],
            "target": task.target,
            **({"model": task.model} if kind == "examples" else {}),
        }
        return self._ready(Judging(options, str(folder), ""))

    def with_rules(self, judging: Judging) -> Judging:
        """The same, with rules between its classes mined from its training pages."""
        path = Path(judging.home) / rule_base.NAME
        if self.mine and not (path.exists() and rule_base.load(path).format == rule_base.FORMAT):
            rule_base.save(self.mine(judge_of(judging), Path(judging.folder)), path)
        return judging

    def of_config(self, path: Path) -> Judging:
        """The judge of a crawl folder, or of a .toml file."""
        settings, source = config.load(path)
        if not settings.topic:
            raise source.blame("topic", "this section is needed: say what to look for")
        home = str(source.path.parent)
        found = Judging(settings.topic, home, home)
        judge = build.make("topic", build.judges(), settings.topic, source)
        if not isinstance(judge, Learner):
            return found
        return replace(self._ready(found), home=home)

    def _of_examples(self, task: Task, web: Pages, drawn: Mapping[str, str]) -> Judging:
        """Trained on pages of the web itself, which are kept in a separate WARC."""
        folder = self.out / _TOPICS / _digest(task.web, task.model, sorted(drawn.items()))
        warc, labels = folder / "lycosa-00001.warc.gz", folder / "labels.tsv"
        if not labels.exists():
            with writing(warc):
                warc.unlink(missing_ok=True)
                _write_pages(web, drawn, folder)
                labels.write_text("".join(f"{page}\t{label}\n" for page, label in drawn.items()), encoding="utf-8")
        options = {
            "kind": "examples",
            "examples": warc.name,
            "labels": labels.name,
            "target": [POSITIVE],
            "model": task.model,
        }
        return self._ready(Judging(options, str(folder), ""))

    def _ready(self, judging: Judging) -> Judging:
        """Train, unless a model trained on the same pages with the same options exists."""
        judge = build.make("topic", build.judges(), judging.options, judging.source())
        pages = digest(sources(Path(judging.folder), judge.examples, judge.labels))
        folder = self.out / _TOPICS / _digest(judge.KIND, judge.recipe(), pages)
        judging = replace(judging, home=str(folder.absolute()), model=str((folder / model_file.NAME).absolute()))
        if not Path(judging.model).exists():
            make_folder(folder)
            judge.prepare(Path(judging.folder), read_pages)
            with writing(Path(judging.model)):
                judge.classifier_.save(Path(judging.model), judge.KIND)
        return judging


def _write_pages(web: Pages, names: Iterable[str], folder: Path) -> None:
    """Write pages of a web to a WARC."""
    writer = WarcWriter(folder, f"lycosa/{__version__}")
    writer.open()
    try:
        for page in names:
            answer = web.get(page)
            if answer:
                writer.write([Exchange(page, b"", head_of(answer), answer.body, 0.0)])
    finally:
        writer.close()


def judge_of(judging: Judging) -> Any:
    """A new judge, ready to judge; each crawl needs a new one because judges learn."""
    judge = build.make("topic", build.judges(), judging.options, judging.source())
    if not judging.model:
        if isinstance(judge, Prepares):
            judge.prepare(Path(judging.folder), read_pages)
        return judge
    trained = classifier.load(Path(judging.model), judge.KIND)
    if not judge.targets(trained.labels):
        known = ", ".join(trained.labels)
        raise BadInput(f"target: none of {', '.join(judge.target)} is a label of the examples (there are: {known})")
    judge.use(trained)
    judge.set_source(Path(judging.folder), read_pages)
    return judge


def _digest(*facts: Any) -> str:
    return xxhash.xxh3_64_hexdigest(msgspec.json.encode(facts, order="deterministic"))
