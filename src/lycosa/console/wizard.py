"""Describe a new crawl: topic, seeds, scope and limits, with sample pages that are judged while you write."""

import secrets
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from lycosa import sampling
from lycosa.api.folder import CrawlFolder
from lycosa.api.written import document
from lycosa.console.api import ApiRoute
from lycosa.console.described import KINDS, Described, described, lines, query_of
from lycosa.console.drafts import Draft, Drafts
from lycosa.console.overview import Overview, overview
from lycosa.console.site import path_to, render, site
from lycosa.errors import BadInput
from lycosa.sampling import Judged
from lycosa.seeds.engines import Search

_MOST_FIELDS = 60
_MOST_FILES = 2_000
_MOST_URLS = 50  # example pages that are fetched
Form = dict[str, str]


class New(Struct, forbid_unknown_fields=True):
    """A new crawl for the API: its name, and the sections of its crawl.toml."""

    name: str
    seeds: list[str]
    topic: dict[str, Any]
    sections: dict[str, dict[str, Any]] = {}  # scope, fetch, limits, ...
    start: bool = False


def show_wizard(request: Request) -> Response:
    crawls = [name for name, folder in site(request).folders.all().items() if (folder / "crawl.db").exists()]
    return render(
        request, "wizard.html", view="wizard", kinds=KINDS, draft=secrets.token_urlsafe(16), crawls=crawls, form={}
    )


async def preview(request: Request) -> Response:
    """What the form says so far, and how the sample pages are judged by it."""
    form = await _form(request)
    return await run_in_threadpool(_preview, request, form)


async def samples(request: Request) -> Response:
    """Fetch sample pages, from the seeds or from an earlier crawl."""
    form = await _form(request)

    def begin() -> Response:
        draft = _draft(request, form)
        if crawl := form.get("sample_from", ""):
            draft.sample(sampling.from_crawl(site(request).folders.find(crawl)))
        else:
            found = described(form, draft)
            wrong = [problem for problem in found.problems if problem.startswith("seeds")]
            if wrong:
                raise BadInput(wrong[0])
            draft.sample_web(found.sections["seeds"], found.sections.get("fetch", {}))
        return _preview(request, form)

    return await run_in_threadpool(begin)


async def files(request: Request) -> Response:
    """Keep uploaded files for the crawl."""
    shelf, draft = request.path_params["shelf"], request.path_params["draft"]
    async with request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS) as form:
        given = [item for _, item in form.multi_items() if isinstance(item, UploadFile) and item.filename]
        kept = [(str(item.filename), await item.read()) for item in given]

    def keep() -> Response:
        place = _drafts(request).get(draft)
        for name, body in kept:
            place.keep(shelf, name, body)
        return render(request, "wizard_files.html", files=place.files(shelf), shelf=shelf)

    return await run_in_threadpool(keep)


async def example_urls(request: Request) -> Response:
    """Fetch example pages by their URLs."""
    form = await _form(request)

    def fetch() -> Response:
        draft = _draft(request, form)
        urls = lines(form, "example_urls")[:_MOST_URLS]
        if not urls:
            raise BadInput("name the URLs of some example pages")
        before = len(draft.files("positive"))
        for number, (url, body) in enumerate(sampling.bodies(urls, described(form, draft).sections.get("fetch", {}))):
            draft.keep("positive", f"{before + number:03d} {url.split('://')[-1].replace('/', '_')[:80]}.html", body)
        return render(request, "wizard_files.html", files=draft.files("positive"), shelf="positive")

    return await run_in_threadpool(fetch)


async def propose(request: Request) -> Response:
    """Ask the search engine for seeds."""
    form = await _form(request)

    def ask() -> Response:
        found = described(form, _draft(request, form))
        if not (rules := found.sections.get("search")):
            raise BadInput("name the URL of a search engine first")
        agent = found.sections.get("fetch", {}).get("user_agent", "Lycosa/0.1")
        seeds = sampling.propose_seeds(msgspec.convert(rules, Search), query_of(found.topic), agent)
        return render(request, "wizard_seeds.html", seeds=[*found.sections["seeds"], *seeds], found=len(seeds))

    return await run_in_threadpool(ask)


async def create(request: Request) -> Response:
    """Write the crawl folder, and start the crawl if that is wanted."""
    form = await _form(request)

    def make() -> Response:
        draft = _draft(request, form)
        found = described(form, draft)
        if found.problems:
            raise BadInput("; ".join(found.problems))
        folder = site(request).folders.place_for(form.get("name", "").strip())
        _write(folder, found.sections)
        draft.move_to(folder)
        shown = _started(request, folder, form.get("then") == "start")
        _drafts(request).drop(form["draft"])
        where = path_to(request, "live", name=shown.name)
        if request.headers.get("hx-request"):
            return Response(status_code=204, headers={"HX-Redirect": where})
        return RedirectResponse(where, 303)

    return await run_in_threadpool(make)


def create_by_api(request: Request, new: New) -> Overview:
    """Create a crawl folder."""
    folder = site(request).folders.place_for(new.name)
    _write(folder, {"seeds": new.seeds, "topic": new.topic, **new.sections})
    return _started(request, folder, new.start)


def _write(folder: Path, sections: dict[str, Any]) -> None:
    rest = {key: value for key, value in sections.items() if key not in ("seeds", "topic")}
    try:
        CrawlFolder.new(folder, sections["seeds"], sections["topic"], **rest)
    except BadInput:
        if folder.is_dir():
            folder.rmdir()  # so that the next attempt may use the name
        raise


def _started(request: Request, folder: Path, start: bool) -> Overview:
    here = site(request)
    if start:
        here.jobs.start(folder)
    return overview(here.folders.name_of(folder), folder, here.jobs)


def _preview(request: Request, form: Form) -> Response:
    draft = _draft(request, form)
    found = described(form, draft)
    judged: list[Judged] = []
    problem = draft.problem
    taken = [*draft.samples]
    if taken and not any(problem.startswith("topic") for problem in found.problems):
        try:
            judged = sampling.judge(found.topic, draft.folder, taken)
        except BadInput as error:
            problem = str(error)
    return render(
        request,
        "wizard_preview.html",
        toml=document(found.sections),
        problems=_problems(found, form),
        judged=sorted(judged, key=lambda one: -one.verdict.relevance),
        taken=taken,
        on_topic=sum(one.verdict.on_topic for one in judged),
        is_sampling=draft.is_sampling,
        problem=problem,
    )


def _problems(found: Described, form: Form) -> list[str]:
    return [*found.problems, *([] if form.get("name", "").strip() else ["name: give the crawl a name"])]


async def _form(request: Request) -> Form:
    async with request.form(max_files=0, max_fields=_MOST_FIELDS) as form:
        return {name: value for name, value in form.multi_items() if isinstance(value, str)}


def _draft(request: Request, form: Form) -> Draft:
    return _drafts(request).get(form.get("draft", ""))


def _drafts(request: Request) -> Drafts:
    found: Drafts = request.app.state.drafts
    return found


routes: list[BaseRoute] = [
    Route("/new", show_wizard, name="wizard"),
    Route("/new", create, methods=["POST"], name="create"),
    Route("/new/preview", preview, methods=["POST"], name="preview"),
    Route("/new/samples", samples, methods=["POST"], name="samples"),
    Route("/new/seeds", propose, methods=["POST"], name="propose"),
    Route("/new/example-urls", example_urls, methods=["POST"], name="example-urls"),
    Route("/new/files/{draft}/{shelf}", files, methods=["POST"], name="files"),
    ApiRoute("POST", "/api/crawls", create_by_api, "Create a crawl.", body=New),
]
