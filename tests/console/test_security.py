"""Who may use the console: every route with what it allows, and every way in that must stay closed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from lycosa.console.app import all_routes
from lycosa.console.security import COPY_POLICY, Access, cookie_name, host_name, is_local

MakeConsole = Callable[..., TestClient]
MORE_IS_NEEDED = {  # to read these: a question, or a report of the lab
    "/api/crawls/{name}/frontier/count",
    "/api/crawls/{name}/why",
    "/api/crawls/{name}/why/place",
    "/api/reports/{report}",
    "/compare/{report}",
    "/compare/{report}/{file}",
    "/crawls/{name}/frontier/count",
    "/crawls/{name}/why/place",
}
READS = MORE_IS_NEEDED | {
    "/",
    "/crawls",
    "/crawls/{name}/",
    "/crawls/{name}/events",
    "/crawls/{name}/label",
    "/enter",
    "/new",
    "/api/crawls",
    "/api/crawls/{name}",
    "/api/crawls/{name}/history",
    "/api/crawls/{name}/labels",
    "/api/crawls/{name}/labels/next",
    "/api/crawls/{name}/now",
    "/api/crawls/{name}/failures",
    "/api/crawls/{name}/frontier",
    "/api/crawls/{name}/frontier/queued",
    "/api/crawls/{name}/ontology",
    "/api/crawls/{name}/pages",
    "/api/crawls/{name}/pages/{n:int}",
    "/api/crawls/{name}/pages/{n:int}/surroundings",
    "/api/crawls/{name}/search",
    "/api/crawls/{name}/taxonomy",
    "/api/reports",
    "/compare",
    "/crawls/{name}/failures",
    "/crawls/{name}/frontier",
    "/crawls/{name}/frontier/queued",
    "/crawls/{name}/ontology",
    "/crawls/{name}/pages",
    "/crawls/{name}/pages/{n:int}",
    "/crawls/{name}/pages/{n:int}/copy",
    "/crawls/{name}/pages/{n:int}/surroundings",
    "/crawls/{name}/search",
    "/crawls/{name}/taxonomy",
    "/crawls/{name}/why",
    "/api/openapi.json",
}
CHANGES = {
    "/crawls/{name}/label",
    "/crawls/{name}/orders/{order}",
    "/login",
    "/new",
    "/new/example-urls",
    "/new/files/{draft}/{shelf}",
    "/new/preview",
    "/new/samples",
    "/new/seeds",
    "/api/crawls",
    "/api/crawls/{name}/labels",
    "/api/crawls/{name}/orders/{order}",
    "/api/crawls/{name}/failures/retry",
    "/api/crawls/{name}/frontier",
    "/crawls/{name}/failures/retry",
    "/crawls/{name}/frontier/change",
    "/api/crawls/{name}/ontology",
    "/crawls/{name}/ontology",
}
OPEN = {"/enter", "/login"}  # without a cookie: they are the way to one
STRANGER = {"Host": "evil.example:8642"}


def paths(*methods: str) -> set[str]:
    found = [route for route in all_routes() if isinstance(route, Route)]
    return {route.path for route in found if set(methods) & (route.methods or set())}


def filled(path: str) -> str:
    known = {"{name}": "stars", "{order}": "start", "{draft}": "0123456789abcdef", "{shelf}": "positive"}
    known |= {"{n:int}": "1", "{report}": "lab", "{file}": "recall.png"}
    for name, value in known.items():
        path = path.replace(name, value)
    return path


def test_this_is_every_route_and_what_it_allows() -> None:
    """A new route must be added here, so that somebody thinks about it."""
    assert paths("GET") == READS
    assert paths("POST") == CHANGES
    assert paths("PUT", "PATCH", "DELETE") == set()
    others = [route for route in all_routes() if not isinstance(route, Route)]
    assert [route.path for route in others if isinstance(route, Mount)] == ["/static"]
    assert len(others) == 1


@pytest.mark.parametrize("path", sorted(READS - OPEN))
def test_nothing_can_be_read_without_the_cookie(path: str, finished: Path, make_console: MakeConsole) -> None:
    console = make_console(finished.parent, entered=False)
    answer = console.get(filled(path))
    assert answer.status_code == 403
    assert "stars" not in answer.text
    wrong = console.get(filled(path), headers={"Cookie": f"{cookie_name('127.0.0.1:8642')}=guessed"})
    assert wrong.status_code == 403


@pytest.mark.parametrize("path", sorted(READS | CHANGES))
def test_a_foreign_host_name_gets_nothing(path: str, finished: Path, make_console: MakeConsole) -> None:
    """DNS rebinding: a page of evil.example has its name point here, and the browser lets it read the answers."""
    console = make_console(finished.parent)
    if path in READS:
        assert console.get(filled(path), headers=STRANGER).status_code == 403
    if path in CHANGES:
        assert console.post(filled(path), headers=STRANGER).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1:8642", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:8642", "Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", sorted(CHANGES))
def test_another_site_cannot_change_anything(
    path: str, headers: dict[str, str], finished: Path, make_console: MakeConsole
) -> None:
    answer = make_console(finished.parent).post(filled(path), headers=headers)
    assert answer.status_code == 403
    assert "does not come from a page of the console" in answer.text


@pytest.mark.parametrize("path", sorted(CHANGES))
def test_a_change_without_an_origin_is_refused(path: str, finished: Path, make_console: MakeConsole) -> None:
    console = make_console(finished.parent)
    del console.headers["Origin"]
    assert console.post(filled(path)).status_code == 403


@pytest.mark.parametrize("path", sorted(CHANGES - OPEN))
def test_nothing_can_be_changed_without_the_cookie(path: str, finished: Path, make_console: MakeConsole) -> None:
    assert make_console(finished.parent, entered=False).post(filled(path)).status_code == 403


@pytest.mark.parametrize("path", sorted(CHANGES - {"/login"}))
def test_read_only_means_read_only(path: str, finished: Path, make_console: MakeConsole) -> None:
    console = make_console(finished.parent, read_only=True)
    answer = console.post(filled(path))
    assert answer.status_code == 403
    assert "read-only" in answer.text


@pytest.mark.parametrize("path", sorted(READS - OPEN - MORE_IS_NEEDED - {"/crawls/{name}/events", "/new"}))
def test_read_only_shows_everything_and_offers_no_change(path: str, finished: Path, make_console: MakeConsole) -> None:
    answer = make_console(finished.parent, read_only=True).get(filled(path))
    assert answer.status_code == 200
    assert 'method="post"' not in answer.text
    assert "hx-post" not in answer.text


@pytest.mark.parametrize("path", sorted(CHANGES - READS))
def test_no_change_by_get(path: str, console: TestClient) -> None:
    assert console.get(filled(path)).status_code == 405


def test_the_token_works_once(finished: Path, make_console: MakeConsole) -> None:
    access = Access()
    console, token = make_console(finished.parent, entered=False, access=access), access.token
    assert console.get("/enter?token=wrong").status_code == 403
    first = console.get(f"/enter?token={token}")
    assert first.status_code == 200
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert token not in cookie
    assert console.get("/").status_code == 200
    other = make_console(finished.parent, entered=False, access=access)
    again = other.get(f"/enter?token={token}")
    assert again.status_code == 403
    assert "used before" in again.text
    assert other.get("/enter?token=").status_code == 403


def test_a_prefetching_browser_does_not_use_up_the_token(finished: Path, make_console: MakeConsole) -> None:
    access = Access()
    console = make_console(finished.parent, entered=False, access=access)
    assert console.get(f"/enter?token={access.token}", headers={"Sec-Purpose": "prefetch"}).status_code == 403
    assert console.get(f"/enter?token={access.token}").status_code == 200


def test_a_password_lets_in_and_a_wrong_one_does_not(
    finished: Path, make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lycosa.console.entrance._AFTER_A_WRONG_ONE_S", 0.0)
    console = make_console(finished.parent, entered=False, access=Access("0.0.0.0", password="open sesame"))
    assert 'type="password"' in console.get("/").text
    assert console.post("/login", data={"password": "open barley"}).status_code == 403
    assert console.get("/").status_code == 403
    assert console.post("/login", data={"password": "open sesame"}).status_code == 200
    assert console.get("/").status_code == 200
    assert make_console(finished.parent, entered=False).post("/login", data={"password": ""}).status_code == 403


def test_every_answer_has_the_policy(console: TestClient) -> None:
    for path in ("/", "/crawls/stars/", "/nowhere", "/static/console.css", "/api/crawls"):
        headers = console.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in console.get("/").headers["content-security-policy"]
    assert "script-src" not in COPY_POLICY
    assert COPY_POLICY.endswith("sandbox")


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..%2fetc", ".hidden", "stars%2f..", "~", "%00"])
def test_names_never_leave_the_root(name: str, console: TestClient, crawls: Path) -> None:
    (crawls / ".hidden").mkdir()
    (crawls / ".hidden" / "crawl.toml").write_text("")
    (crawls.parent / "crawl.toml").write_text("")
    assert console.get(f"/crawls/{name}/").status_code in (404, 307)
    assert console.get(f"/api/crawls/{name}").status_code == 404


def test_a_link_out_of_the_root_is_not_followed(console: TestClient, crawls: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "crawl.toml").write_text("")
    (crawls / "linked").symlink_to(outside)
    assert "linked" not in console.get("/").text
    assert console.get("/crawls/linked/").status_code == 404


def test_requests_that_are_too_large_or_of_unknown_length(console: TestClient) -> None:
    large = console.post("/new/preview", headers={"Content-Length": "99000000"}, content=b"")
    assert large.status_code == 413
    unknown = console.post("/new/preview", content=iter([b"draft=x"]))
    assert unknown.status_code == 411


def test_which_hosts_are_our_own() -> None:
    access = Access("127.0.0.1", names=["crawl.library.example"])
    for host in ("127.0.0.1:8642", "localhost:8642", "[::1]:8642", "crawl.library.example"):
        assert access.knows_host(host), host
    for host in ("", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.5:8642"):
        assert not access.knows_host(host), host
    wide = Access("0.0.0.0", "secret")
    assert wide.knows_host("192.168.1.5:8642")  # an address cannot be rebound
    assert not wide.knows_host("evil.example:8642")
    assert host_name("[2001:db8::1]:80") == "2001:db8::1"
    assert [is_local(host) for host in ("localhost", "127.3.2.1", "::1", "0.0.0.0", "example.org")] == [
        True,
        True,
        True,
        False,
        False,
    ]
