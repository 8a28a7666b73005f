"""Reads crawl.toml into plain records; every error is reported as one clear line that names the key and the line.

`[topic]`, `[strategy]` and `[search]` are not validated here: their keys are known to the classes built from them.
"""

import contextlib
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from lycosa.errors import BadInput, ConfigError

NAME = "crawl.toml"
MOST_SHARDS = 64  # the number of buckets into which hosts are hashed
Whole = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


# such paths do not lead to HTML pages, so fetching them would only burden the host
NO_PAGES = """
    7z aac ai apk arc arj avi bin bmp bz2 cab class css csv deb djvu dmg doc docx dvi eps epub exe flac flv gif gz
    hqx ico ics iso jar jpeg jpg js json latex m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv otf pbm
    pdf pgm png pnm pps ppt pptx ps psd rar rpm rtf sit svg swf tar tex tgz tif tiff tsv ttf vcf wav webm webp wmv
    woff woff2 wrl xbm xls xlsx xpm xwd xz z zip
""".split()


class Scope(Struct, frozen=True, forbid_unknown_fields=True):
    """Which URLs may be fetched at all; an empty list or zero means no limit."""

    domains: list[str] = []  # including subdomains
    hosts: list[str] = []  # exact host names
    exclude: list[str] = []  # regular expressions matched anywhere in the URL
    max_depth: Whole = 50
    max_pages_per_host: Whole = 0
    max_hosts_per_domain: Whole = 1_000  # per registered domain
    max_url_length: Positive = 2_000
    max_repeats: Positive = 3  # of the same segment in a path
    max_queries_per_path: Positive = 1_000  # different queries per path
    skip_suffixes: list[str] = field(default_factory=lambda: [*NO_PAGES])  # of paths, case-insensitive
    sitemaps: bool = False


class Fetch(Struct, frozen=True, forbid_unknown_fields=True):
    """How to fetch: identity, politeness, limits on responses."""

    user_agent: Annotated[str, Meta(min_length=1, pattern=r"^[^\r\n\0]+$")] = "Lycosa/0.1"
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 64
    delay_s: Seconds = 1.0
    delay_factor: Seconds = 1.0  # the delay is at least this multiple of the host's last response time
    # 1: always the best page next, even if workers have to wait; 0: always busy. 0.9, or 0 where only time is limited
    focus: Annotated[float, Meta(ge=0, le=1)] | None = None
    max_delay_s: Seconds = 3_600.0  # upper bound of the delays requested by robots.txt, Retry-After and back-off
    per_ip: bool = False  # hosts with the same address share one delay
    proxy: str = ""
    allow_private: bool = False
    connect_s: Seconds = 10.0
    read_s: Seconds = 20.0
    total_s: Seconds = 60.0
    max_bytes: Positive = 5_000_000  # of a body, before and after decoding
    max_redirects: Whole = 10
    retries: Whole = 2
    backoff_s: Seconds = 10.0  # after the first failure; doubled after each further one
    give_up_after: Whole = 10  # consecutive failures to reach a host; 0: never
    content_types: list[str] = field(default_factory=lambda: ["text/html", "application/xhtml+xml"])
    layers: list[str] = []  # fetch layers of other packages, outermost first


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """When the crawl ends, counted over all its runs; zero means no limit."""

    pages: Whole = 1_000  # distinct HTML pages; the crawl also ends after as many duplicates
    relevant: Whole = 0
    seconds: Seconds = 0.0
    recall: Annotated[float, Meta(ge=0, lt=1)] = 0.0  # estimated share of the relevant pages


class Recall(Struct, frozen=True, forbid_unknown_fields=True):
    """Pages known to be on topic; some are held out from the crawl, to see how many it finds by itself."""

    known: list[str] | str = []  # URLs, or the name of a file with one URL per line
    share: Annotated[float, Meta(gt=0, le=1)] = 0.2  # the share that is held out; at least ten are
    seed: Whole = 0  # of the random sample


class Store(Struct, frozen=True, forbid_unknown_fields=True):
    """What is stored of the replies."""

    warc: bool = True
    warc_max_bytes: Annotated[int, Meta(ge=1_000_000)] = 1_000_000_000
    log_visits: bool = False  # write a line to crawl.log for each visit
    sinks: list[str] = []  # sinks of other packages, which also receive every visit


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    """How the work is divided among processes."""

    shards: Annotated[int, Meta(ge=1, le=MOST_SHARDS)] | Literal["auto"] = 1  # auto: one for each core
    order: Literal["exact", "loose"] = "exact"  # over all shards the best URL first, or each shard for itself
    cluster: str = ""  # where the shards run: address of a Ray cluster, or "auto"; empty: on this machine
    store: str = ""  # on a cluster: a folder, or s3://..., that all nodes can reach


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a crawl.toml."""

    seeds: list[str] | str = []
    topic: dict[str, Any] = field(default_factory=dict)
    strategy: dict[str, Any] = field(default_factory=lambda: {"kind": "learned"})
    scope: Scope = Scope()
    fetch: Fetch = Fetch()
    limits: Limits = Limits()
    recall: Recall = Recall()
    store: Store = Store()
    run: Run = Run()
    search: dict[str, Any] = field(default_factory=dict)  # validated where the search step is built


class Source(Struct, frozen=True):
    """Where a configuration came from, so that errors can refer to it."""

    path: Path
    text: str
    overrides: tuple[str, ...] = ()

    def blame(self, key: str, problem: str) -> ConfigError:
        """The error for `section.key`: refers to the `--set` option if it came from there, otherwise to the line in the
        file."""
        for item in reversed(self.overrides):
            name, _, value = item.partition("=")
            if f"{name.strip()}.".startswith(f"{key}."):
                is_list = name.strip() == key and problem.startswith(f"expected {_TYPES['array']}")
                return ConfigError(key, _as_list(key, value) if is_list else problem, self.path, option="--set")
        return ConfigError(key, problem, self.path, _line_of(self.text, key))

    @contextlib.contextmanager
    def placing(self) -> Iterator[None]:
        """Add the position in the file to errors that name a key."""
        try:
            yield
        except ConfigError as error:
            raise (error if error.file else self.blame(error.key, error.problem)) from None


def load(folder: Path, overrides: Sequence[str] = ()) -> tuple[Config, Source]:
    """The configuration of a crawl folder (or of a .toml file), with `section.key=value` overrides applied."""
    path = folder if folder.suffix == ".toml" else folder / NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "" if folder.suffix == ".toml" else f" (lycosa new {folder} makes one)"
        raise BadInput(f"{folder}: no {path.name} here{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    source = Source(path, text, tuple(overrides))
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("", f"not valid TOML: {error}", path) from None
    for item in overrides:
        _override(raw, item)
    return _convert(raw, source), source


def _convert(raw: dict[str, Any], source: Source) -> Config:
    try:
        found = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        key, problem = explain(error, kind=Config)
        raise source.blame(key, problem) from None
    for key, urls in (("seeds", found.seeds), ("recall.known", found.recall.known)):
        if problem := file_problem(urls, key.rpartition(".")[2]):
            raise source.blame(key, problem)
    return found


def file_problem(urls: list[str] | str, name: str = "seeds") -> str:
    """What is wrong with the name of a file of URLs; empty if nothing is."""
    if isinstance(urls, str) and "://" in urls:
        return f'{urls!r} is a URL, but text alone names a file of URLs: write {name} = ["{urls}"]'
    return ""


_TYPES = {  # as the validator calls them
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a table",
    "str": "text",
}


def _as_list(key: str, value: str) -> str:
    items = [item.strip(" '\"") for item in value.strip(" []").split(",")]
    written = f"{key}=[{', '.join(msgspec.json.encode(item).decode() for item in items if item)}]"
    return f"this is a list: write --set {shlex.quote(written)}"


def explain(error: msgspec.ValidationError, section: str = "", kind: type | None = None) -> tuple[str, str]:
    """Key and problem, extracted from the validator's message; `kind` is the class that was to be made."""
    problem, _, place = str(error).partition(" - at ")
    key = place.strip("`").removeprefix("$").lstrip(".")
    key = re.sub(r"\[\.\.\.\]|\[\d+\]", "", key)
    if unknown := re.match(r"Object contains unknown field `(.+)`", problem):
        key, problem = ".".join(filter(None, [key, unknown[1]])), "unknown key"
    elif missing := re.match(r"Object missing required field `(.+)`", problem):
        key, problem = ".".join(filter(None, [key, missing[1]])), "this key is needed"
    elif kind and problem.startswith("Invalid enum value") and (choices := _choices(kind, key)):
        problem = f"{problem.removeprefix('Invalid enum value ')} is not one of {choices}"
    problem = problem.replace("got `float`", "got a decimal number")
    problem = re.sub(r"`([a-z |]+)`", lambda found: " or ".join(map(_type, found[1].split(" | "))), problem)
    return ".".join(filter(None, [section, key])), problem[0].lower() + problem[1:]


def _choices(kind: Any, key: str) -> str:
    """The values that a key may have, if it may only have a few."""
    for name in key.split("."):
        if not isinstance(kind, type):
            return ""
        with contextlib.suppress(NameError):  # annotations of plug-ins that cannot be resolved
            kind = get_type_hints(kind).get(name)
    return ", ".join(map(str, get_args(kind))) if get_origin(kind) is Literal else ""


def _type(name: str) -> str:
    return _TYPES.get(name, name)


def _override(raw: dict[str, Any], item: str) -> None:
    key, equals, text = item.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts) or len(parts) > 2:
        raise BadInput(f"--set {item}: write section.key=value")
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is a string, as shell users expect
    target = raw
    for part in parts[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise BadInput(f"--set {item}: {part} is not a section")
    target[parts[-1]] = value


def _line_of(text: str, key: str) -> int:
    """The line that sets `section.key`, or else the section header; 0 if there is neither."""
    section, _, name = key.rpartition(".")
    current, opened = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line):
            current = header[1]
            if current in (section, key):
                opened = number
        elif re.match(rf"\s*[\"']?{re.escape(name if current == section else key)}[\"']?\s*=", line):
            return number
    return opened
