"""From the fields of the form to the sections of a crawl.toml."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from lycosa import urls
from lycosa.console.drafts import Draft
from lycosa.errors import BadInput

KINDS = {
    "sentence": "A sentence",
    "keywords": "Words",
    "examples": "Example pages",
    "taxonomy": "A taxonomy",
    "ontology": "An ontology",
}
_MOST_TEXT = 20_000  # characters in one field


class Described(Struct, frozen=True):
    """What the form says, as far as it is complete."""

    sections: dict[str, Any]  # of crawl.toml
    problems: list[str]  # what is missing

    @property
    def topic(self) -> dict[str, Any]:
        found: dict[str, Any] = self.sections["topic"]
        return found


def described(form: Mapping[str, str], draft: Draft) -> Described:
    problems: list[str] = []
    seeds = lines(form, "seeds")
    wrong = [one for one in seeds if not urls.from_person(one)]
    problems += [f"seeds: {one[:80]} is not a web URL; write https://host/path" for one in wrong[:3]]
    if not seeds:
        problems.append("seeds: name at least one URL to start from")
    topic, missing = _topic(form, draft)
    sections: dict[str, Any] = {"seeds": seeds, "topic": topic}
    for name, make in (("scope", _scope), ("fetch", _fetch), ("limits", _limits), ("search", _search)):
        if section := make(form, problems):
            sections[name] = section
    return Described(sections, [*missing, *problems])


def lines(form: Mapping[str, str], name: str) -> list[str]:
    """The lines of a field, without empty ones and duplicates."""
    found = (line.strip() for line in form.get(name, "")[:_MOST_TEXT].splitlines())
    return list(dict.fromkeys(line for line in found if line))


def query_of(topic: Mapping[str, Any]) -> str:
    """What to ask a search engine about a topic."""
    given = topic.get("sentence") or topic.get("words") or topic.get("focus") or topic.get("target") or ""
    return given if isinstance(given, str) else " ".join(map(str, given[:6]))


def _topic(form: Mapping[str, str], draft: Draft) -> tuple[dict[str, Any], list[str]]:
    kind = form.get("kind", "sentence")
    if kind == "sentence":
        sentence = " ".join(form.get("sentence", "")[:_MOST_TEXT].split())
        missing = [] if sentence else ["topic: write a sentence that says what to look for"]
        more = {"words": words} if (words := lines(form, "more_words")) else {}
        return {"kind": "sentence", "sentence": sentence, **more}, missing
    if kind == "keywords":
        found = lines(form, "words")
        return {"kind": "keywords", "words": found}, [] if found else ["topic: name at least one word"]
    if kind == "examples":
        return _examples(draft)
    if kind == "taxonomy":
        target = lines(form, "target")
        missing = [] if draft.files("taxonomy") else ["topic: choose the folder of the taxonomy"]
        missing += [] if target else ["topic: name the classes to look for"]
        return {"kind": "taxonomy", "examples": "taxonomy", "target": target, "min_pages": 5}, missing
    if kind == "ontology":
        files = draft.files("ontology")
        missing = [] if files else ["topic: choose the file of the ontology"]
        focus = lines(form, "focus")
        return {"kind": "ontology", "file": files[0] if files else "", "focus": focus}, missing
    raise BadInput(f"kind: {kind[:40]!r} is not a kind of topic (there are: {', '.join(KINDS)})")


def _examples(draft: Draft) -> tuple[dict[str, Any], list[str]]:
    """With pages off topic a classifier can be trained; without them, what the others have in common is looked for."""
    on_topic, off_topic = draft.files("positive"), draft.files("negative")
    if off_topic:
        missing = [] if on_topic else ["topic: choose some pages that are on topic, too"]
        return {"kind": "examples", "examples": "examples", "target": ["positive"]}, missing
    missing = [] if len(on_topic) > 1 else ["topic: choose at least two example pages, preferably ten"]
    return {"kind": "tids", "examples": "examples/positive"}, missing


def _scope(form: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if domains := lines(form, "domains"):
        found["domains"] = domains
    if exclude := lines(form, "exclude"):
        found["exclude"] = exclude
    if depth := _number(form, "max_depth", problems):
        found["max_depth"] = depth
    return found


def _fetch(form: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if contact := " ".join(form.get("contact", "").split())[:200]:
        found["user_agent"] = f"Lycosa/0.1 (+{contact})"
    if delay := form.get("delay_s", "").strip():
        try:
            found["delay_s"] = float(delay)
        except ValueError:
            problems.append(f"delay: {delay[:20]!r} is not a number of seconds")
    if form.get("allow_private"):
        found["allow_private"] = True
    return found


def _limits(form: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("pages", "relevant"):
        if number := _number(form, name, problems):
            found[name] = number
    if minutes := _number(form, "minutes", problems):
        found["seconds"] = 60 * minutes
    return found


def _search(form: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    if not (url := form.get("search_url", "").strip()):
        return {}
    return {"engine": "template" if "{query}" in url else "searxng", "url": url}


def _number(form: Mapping[str, str], name: str, problems: list[str]) -> int:
    given = form.get(name, "").strip()
    if given and not given.isdecimal():
        problems.append(f"{name.replace('_', ' ')}: {given[:20]!r} is not a whole number")
    return int(given[:9]) if given.isdecimal() else 0
