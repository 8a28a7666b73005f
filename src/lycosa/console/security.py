"""Who may use the console, and from where. Every request passes here before any view sees it.

A page on the Web must not be able to read or change anything through the user's browser, and nobody else on the machine
or the network without the token or the password.
"""

import ipaddress
import secrets
import socket
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A stored copy is someone else's HTML: it may show its own styles, but run and load nothing, and it has no origin.
COPY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'self'; sandbox"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
LOGIN, STATIC, ENTER = "/login", "/static/", "/enter"
MOST_BYTES = 64_000_000  # of a request: uploaded example pages are the largest
_LOCAL = ("127.0.0.1", "localhost", "::1")
_MOST_SESSIONS = 1_000
_READS = ("GET", "HEAD")


class Access:
    """The secrets of one console, and the names it answers to."""

    def __init__(self, host: str = "127.0.0.1", password: str = "", names: Sequence[str] = ()) -> None:
        self.pass_phrase = password
        self.token = secrets.token_urlsafe(32)
        self.is_local = is_local(host)
        self._names = {name.lower() for name in (*_LOCAL, *names)}
        if not self.is_local:
            self._names |= {host.lower(), socket.gethostname().lower()}
        self._sessions: dict[str, None] = {}  # in order of entry

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this console. A foreign name that resolves to this machine is an attack (DNS
        rebinding); a plain address cannot be one."""
        name = host_name(header)
        return name in self._names or (not self.is_local and _is_address(name))

    def enter(self, token: str) -> str:
        """The cookie in exchange for the token, which is used up by that; empty if the token is wrong."""
        if not self.token or not secrets.compare_digest(token.encode(), self.token.encode()):
            return ""
        self.token = ""
        return self._admit()

    def log_in(self, password: str) -> str:
        """The cookie in exchange for the password; empty if that is wrong."""
        if not self.pass_phrase or not secrets.compare_digest(password.encode(), self.pass_phrase.encode()):
            return ""
        return self._admit()

    def has_entered(self, cookie: str) -> bool:
        return cookie in self._sessions

    def _admit(self) -> str:
        while len(self._sessions) >= _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = None
        return cookie


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def cookie_name(host_header: str) -> str:
    """Browsers send cookies to all ports of a host, so that two consoles need two names."""
    port = host_header.rpartition(":")[2] if ":" in host_header else ""
    return f"lycosa-{port if port.isdigit() else 'console'}"


def set_cookie(headers: MutableHeaders, host_header: str, value: str) -> None:
    headers.append("Set-Cookie", f"{cookie_name(host_header)}={value}; Path=/; HttpOnly; SameSite=Strict")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Middleware: refuses requests with 403 and a reason, and adds the security headers to every response."""

    def __init__(self, app: ASGIApp, access: Access, read_only: bool, refuse: Any) -> None:
        """`refuse`: makes the response from a status, a reason, and whether logging in helps."""
        self.app = app
        self.access = access
        self.read_only = read_only
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        if problem := self._problem(scope, headers):
            await self._refuse(scope, *problem)(scope, receive, guarded)
        else:
            await self.app(scope, receive, guarded)

    def _problem(self, scope: Scope, headers: Headers) -> tuple[int, str, bool] | None:
        host, path, method = headers.get("host", ""), scope["path"], scope["method"]
        if not self.access.knows_host(host):
            return 403, "this console does not answer to that host name; use the address it printed", False
        if method not in _READS and (problem := self._change_problem(scope, headers, host)):
            return problem
        if path.startswith(STATIC) or path in (LOGIN, ENTER):
            return None
        if not self.access.has_entered(_cookie(headers, host)):
            return 403, "open the console with the address it printed when it started", True
        return None

    def _change_problem(self, scope: Scope, headers: Headers, host: str) -> tuple[int, str, bool] | None:
        """Changes come from our own pages only. Browsers send at least one of the two headers with each of them."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = origin in (f"http://{host}", f"https://{host}") if origin is not None else site == "same-origin"
        if not own or site not in (None, "same-origin"):
            return 403, "this change does not come from a page of the console", False
        if self.read_only and scope["path"] != LOGIN:
            return 403, "this console is read-only", False
        length = headers.get("content-length", "")
        if not length.isdigit():
            return 411, "the length of the request is missing", False
        if int(length) > MOST_BYTES:
            return 413, f"the request is larger than {MOST_BYTES // 1_000_000} MB", False
        return None


def _cookie(headers: Headers, host: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(cookie_name(host))
    except CookieError:
        return ""
    return found.value if found else ""
