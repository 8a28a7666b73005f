"""The way in: the token of the start address, or the password, in exchange for a cookie."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lycosa.console import errors, site
from lycosa.console.security import ENTER, LOGIN, Access, set_cookie

_AFTER_A_WRONG_ONE_S = 1.0  # so that guessing a password takes for ever
_AT_ONCE = 4  # such waits; further attempts queue up
_waiting = asyncio.Semaphore(_AT_ONCE)


def enter(request: Request) -> Response:
    """Exchange the token. Not a redirect: a browser that followed a link from another site would not send the cookie
    along with it, as that is only for our own pages. The page that is sent instead leads on."""
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        return errors.problem(request, 403, "the token is not for prefetching")
    access: Access = request.app.state.access
    cookie = access.enter(request.query_params.get("token", ""))
    if not cookie:
        words = "this start address is wrong or was used before; restart the console for another"
        return errors.refuse(request.scope, 403, words, True)
    return _let_in(request, cookie)


async def log_in(request: Request) -> Response:
    access: Access = request.app.state.access
    async with request.form(max_files=0, max_fields=5) as form:
        cookie = access.log_in(str(form.get("password", "")))
    if not cookie:
        async with _waiting:
            await asyncio.sleep(_AFTER_A_WRONG_ONE_S)
        return errors.refuse(request.scope, 403, "the password is wrong", True)
    return _let_in(request, cookie)


def _let_in(request: Request, cookie: str) -> Response:
    response = site.render(request, "entered.html")
    set_cookie(response.headers, request.headers["host"], cookie)
    return response


routes: list[BaseRoute] = [
    Route(ENTER, enter, name="enter"),
    Route(LOGIN, log_in, methods=["POST"], name="login"),
]
