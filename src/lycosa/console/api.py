"""The JSON API: routes that describe themselves, and the OpenAPI document made from them.

An endpoint takes the request, and the decoded body if there is one, and returns a record. Its annotations are the
schema.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, get_type_hints

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa import __version__
from lycosa.errors import BadInput

PREFIX = "/api/"
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Query(NamedTuple):
    """A parameter of the query string."""

    name: str
    what: str
    type: str = "string"  # string, integer, number, boolean


class Problem(msgspec.Struct):
    """What was wrong with a request."""

    error: str


class ApiRoute(Route):
    """One method of one path. `body` is the type of the JSON document that a change needs."""

    def __init__(
        self,
        method: str,
        path: str,
        work: Callable[..., Any],
        summary: str,
        body: Any = None,
        query: Sequence[Query] = (),
    ) -> None:
        self.method, self.summary, self.body, self.query = method, summary, body, tuple(query)
        self.returns = get_type_hints(work)["return"]

        async def answer(request: Request) -> Response:
            given = [decoded(await request.body(), body)] if body else []
            return json_response(await run_in_threadpool(work, request, *given))

        super().__init__(path, answer, methods=[method], name=f"{method} {path}")


def json_response(found: Any, status: int = 200) -> Response:
    return Response(_encode(found), status, media_type="application/json")


def decoded(text: bytes, kind: Any) -> Any:
    """A JSON document from the browser or a script."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"the request is not what was expected: {error}") from None


def openapi(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The OpenAPI document of all routes that are part of the API."""
    known = [route for route in routes if isinstance(route, ApiRoute)]
    kinds = [kind for route in known for kind in (route.returns, route.body) if kind not in (None, type(None))]
    schemas, components = msgspec.json.schema_components([*kinds, Problem], ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(map(repr, kinds), schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for route in known:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of, schemas[-1])
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lycosa console", "version": __version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: ApiRoute, schema_of: dict[str, Any], problem: Any) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in route.param_convertors
    ]
    parameters += [
        {"name": one.name, "in": "query", "description": one.what, "schema": {"type": one.type}} for one in route.query
    ]
    result = schema_of.get(repr(route.returns), {"type": "null"})
    found: dict[str, Any] = {
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done", "content": _content(result)},
            "4XX": {"description": "Refused, and why", "content": _content(problem)},
        },
    }
    if route.body:
        found["requestBody"] = {"required": True, "content": _content(schema_of[repr(route.body)])}
    return found


def _content(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
