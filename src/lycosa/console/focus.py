"""The view of the subject's map, where the focus and the weights are changed: in crawl.toml, as a person would."""

from pathlib import Path
from typing import Any

from msgspec import Struct, structs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from lycosa import config, remote
from lycosa.console.api import ApiRoute, Query
from lycosa.console.ontology import SIZE, WEIGHTS, Map, checked_focus, checked_weights, prepared, view_map
from lycosa.console.site import folder_of, path_to, reading, render, site
from lycosa.console.toml_text import with_values
from lycosa.errors import BadInput, StateError
from lycosa.files import unwritable, write_whole
from lycosa.ontology.weights import Weights
from lycosa.stamp import changes_since, make_stamp

_MOST_FOCUS = 5_000


class Focus(Struct, forbid_unknown_fields=True):
    """Which concepts are in focus, by id, IRI or name, and the four weights."""

    focus: list[str]
    weights: Weights | None = None  # null: as they are


class Standing(Struct):
    """Whether the stored pages were judged by the present topic."""

    changed: list[str] = []  # what has changed since, in words
    is_running: bool = False  # a crawl, which goes on with the topic it began with
    is_judging: bool = False
    result: str = ""  # of judging again


def change(request: Request, wanted: Focus) -> Map:
    """Write the focus and the weights to crawl.toml."""
    folder = folder_of(request)
    settings, source = config.load(folder)
    if settings.topic.get("kind") != "ontology":
        raise BadInput(f"{folder.name}: its topic is not an ontology, so there is no focus to change")
    judge = prepared(folder)
    ids, written = checked_focus(wanted.focus, judge), dict(zip(judge.focus_, judge.focus, strict=True))
    kept = [name for id, name in written.items() if id in ids]
    focus = kept + [_name(judge, id) for id in ids if id not in written]
    changes: dict[str, Any] = {"focus": focus} if focus != judge.focus else {}
    weights, before = structs.asdict(wanted.weights or judge.weights), structs.asdict(judge.weights)
    if weights != before:
        changes["weights"] = {name: value for name, value in weights.items() if value != before[name]}
    if changes:
        try:
            write_whole(folder / config.NAME, with_values(source.text, "topic", changes).encode())
        except OSError as error:
            raise unwritable(folder / config.NAME, error) from None
    return view_map(request)


def _name(judge: Any, id: str) -> str:
    """What a person would write: the label, unless it means something else or several concepts."""
    label: str = judge.concepts_[id].label
    return label if judge.concepts_.find(label) == [id] else id


def standing(request: Request, folder: Path) -> Standing:
    try:
        with reading(request) as db:
            changed = changes_since(db, make_stamp(prepared(folder), "ontology", folder))
    except StateError:
        return Standing()  # not started yet
    jobs = site(request).jobs
    return Standing(changed, remote.is_listening(folder), jobs.is_judging(folder), jobs.result(folder))


def show_map(request: Request) -> Response:
    found = view_map(request)
    state = standing(request, folder_of(request)) if found.concepts else Standing()
    return render(
        request, "ontology.html", view="ontology", found=found, standing=state, size=int(SIZE), weights=WEIGHTS
    )


async def take_focus(request: Request) -> Response:
    async with request.form(max_files=0, max_fields=_MOST_FOCUS) as form:
        wanted = Focus([str(id) for id in form.getlist("focus")], checked_weights(form))
    await run_in_threadpool(change, request, wanted)
    return RedirectResponse(path_to(request, "ontology", name=request.path_params["name"]), 303)


_TRIED = (
    Query("try", "anything: show the map with the focus and weights given here, without saving them"),
    Query("focus", "a concept in focus: its id, IRI or name; may be repeated"),
    *(Query(f"weight-{name}", f"of concepts {what}: 0 to 1", "number") for name, what in WEIGHTS.items()),
)
routes: list[BaseRoute] = [
    Route("/crawls/{name}/ontology", show_map, name="ontology"),
    Route("/crawls/{name}/ontology", take_focus, methods=["POST"], name="ontology-focus"),
    ApiRoute(
        "GET", "/api/crawls/{name}/ontology", view_map, "The map of the subject, with what was found.", query=_TRIED
    ),
    ApiRoute("POST", "/api/crawls/{name}/ontology", change, "Change the focus and weights in crawl.toml.", body=Focus),
]
