"""Errors as a page, as a line for a part of a page, or as JSON: whatever the request wanted."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from lycosa.console import api, site
from lycosa.console.folders import NoSuchCrawl
from lycosa.errors import LycosaError, StateError

_log = logging.getLogger(__name__)
_TITLES = {403: "Not allowed", 404: "Not found", 409: "Not now", 500: "A bug in the console"}


def problem(request: Request, status: int, words: str, can_log_in: bool = False) -> Response:
    """An error in the format that the request wanted."""
    words = " ".join(words.split())
    if request.url.path.startswith(api.PREFIX):
        return api.json_response(api.Problem(words), status)
    if request.headers.get("hx-request"):
        return PlainTextResponse(words, status)
    title = _TITLES.get(status, "That did not work")
    return site.render(request, "error.html", status, title=title, words=words, can_log_in=can_log_in)


def refuse(scope: Scope, status: int, words: str, can_log_in: bool) -> Response:
    """For requests that are turned away before any view: they see nothing of the crawls."""
    request = Request(scope)
    if scope["path"].startswith(api.PREFIX):
        return api.json_response(api.Problem(words), status)
    offers = can_log_in and bool(request.app.state.access.pass_phrase)
    return site.render(request, "refused.html", status, words=words, can_log_in=offers)


def on_known(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, NoSuchCrawl) else 409 if isinstance(error, StateError) else 400
    return problem(request, status, str(error))


def on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(request, error.status_code, error.detail)


def on_bug(request: Request, error: Exception) -> Response:
    _log.error("%s %s", request.method, request.url.path, exc_info=error)
    return problem(request, 500, f"{type(error).__name__}: {error}; the traceback is where the console was started")


HANDLERS = {LycosaError: on_known, HTTPException: on_http, Exception: on_bug}
