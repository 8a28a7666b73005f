"""What stands in a crawler's way, on request and always in the same place."""

from collections import Counter
from collections.abc import Mapping

from lycosa.lab.answer import CLOSE, Answer
from lycosa.lab.faults import Faulty

URLS = [f"http://a.example/{number}" for number in range(2_000)]
HTML = (("Content-Type", "text/html; charset=utf-8"),)


class Echo:
    """Answers with the address."""

    def __init__(self, **more: object) -> None:
        self.more = more

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        return Answer(**({"body": url.encode()} | self.more))  # type: ignore[arg-type]


def ask(site: Faulty, url: str = URLS[0]) -> Answer:
    return site.respond(url, {})


def test_without_obstacles_nothing_changes() -> None:
    assert ask(Faulty(Echo())) == Answer(body=URLS[0].encode())


class TestErrors:
    def test_a_share_fails_in_every_way(self) -> None:
        site = Faulty(Echo(), errors=0.2)
        statuses = Counter(ask(site, url).status for url in URLS)
        assert set(statuses) == {200, 404, 500, 503, CLOSE}
        assert 0.15 < 1 - statuses[200] / len(URLS) < 0.25

    def test_the_same_addresses_each_time(self) -> None:
        def failing(seed: int) -> list[str]:
            return [url for url in URLS if ask(Faulty(Echo(), errors=0.1, seed=seed), url).status != 200]

        assert failing(1) == failing(1) != failing(2)

    def test_all_or_none(self) -> None:
        assert all(ask(Faulty(Echo(), errors=1.0), url).status != 200 for url in URLS)
        assert all(ask(Faulty(Echo(), errors=0.0), url).status == 200 for url in URLS)

    def test_robots_txt_never_fails(self) -> None:
        site = Faulty(Echo(), errors=1.0, robots="User-agent: *\nDisallow: /x\n")
        assert ask(site, "http://a.example/robots.txt").status == 200


class TestRobots:
    URL = "http://a.example/robots.txt"

    def test_none(self) -> None:
        assert ask(Faulty(Echo()), self.URL).status == 404

    def test_recorded(self) -> None:
        assert ask(Faulty(Echo(), robots="recorded"), self.URL).body == self.URL.encode()

    def test_one_for_all(self) -> None:
        answer = ask(Faulty(Echo(), robots="User-agent: *\nDisallow: /\n"), self.URL)
        assert (answer.status, answer.body) == (200, b"User-agent: *\nDisallow: /\n")
        assert dict(answer.headers)["Content-Type"] == "text/plain"


def test_latency_adds_to_what_the_site_takes() -> None:
    assert ask(Faulty(Echo(delay_s=0.5), latency_s=0.25)).delay_s == 0.75
    assert ask(Faulty(Echo(), latency_s=0.25), "http://a.example/robots.txt").delay_s == 0.25


class TestPlainHttp:
    def test_links_and_redirects(self) -> None:
        page = Echo(headers=HTML, body=b"<a href='https://b.example/https'>x</a>")
        assert ask(Faulty(page, as_http=True)).body == b"<a href='http://b.example/https'>x</a>"
        moved = Echo(status=301, headers=(("location", "https://b.example/?u=https://c.example"),), body=b"")
        assert ask(Faulty(moved, as_http=True)).headers == (("location", "http://b.example/?u=https://c.example"),)

    def test_what_is_no_html_is_left_alone(self) -> None:
        text = Echo(headers=(("Content-Type", "text/plain"),), body=b"https://b.example")
        assert ask(Faulty(text, as_http=True)).body == b"https://b.example"

    def test_only_when_asked(self) -> None:
        page = Echo(headers=HTML, body=b"<a href='https://b.example/'>x</a>")
        assert ask(Faulty(page)).body == b"<a href='https://b.example/'>x</a>"
