"""A page that is over budget costs its process and nothing else."""

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest
from msgspec.json import encode as to_json

from lycosa.errors import TooCostly
from lycosa.parse import HtmlParser, Parsers
from lycosa.parse.by_type import HEAVY_BYTES
from lycosa.parse.sandbox import Sandbox
from lycosa.types import Link, Reply

URL = "http://e.org/"
LARGE = b"<html lang=en><title>t</title><body>" + b"<p>word <a href=/x>link</a>" * 10_000
ENDLESS = b"".join(b"<img a%d>" % number for number in range(500_000))  # half a million names of attributes


def reply(body: bytes, content_type: str = "text/html") -> Reply:
    return Reply(Link(URL, depth=2), url=URL, status=200, content_type=content_type, body=body)


def test_a_large_page_reads_as_it_would_here() -> None:
    parsers = Parsers(HtmlParser(max_links=7, robot="spider"))
    body = b"<meta name=spider content=nofollow>" + LARGE
    for page in (LARGE, body):
        assert parsers.is_heavy(reply(page))
        assert to_json(parsers.parse(reply(page))) == to_json(parsers.parse_here(reply(page)))


def test_an_ordinary_page_starts_no_process() -> None:
    parsers = Parsers()
    assert not parsers.is_heavy(reply(LARGE[:HEAVY_BYTES]))
    parsers.parse(reply(LARGE[:HEAVY_BYTES]))
    assert parsers.sandbox._process is None


def test_a_page_over_its_cpu_budget_is_given_up_and_the_next_one_is_read() -> None:
    parsers = Parsers()
    parsers.sandbox = Sandbox(5000, "lycosa", cpu_s=1.0)
    with pytest.raises(TooCostly, match="more than 1 s of CPU time"):
        parsers.parse(reply(ENDLESS))
    assert parsers.parse(reply(LARGE)).title == "t"


def test_a_page_over_its_memory_budget_is_given_up() -> None:
    sandbox = Sandbox(5000, "lycosa", memory_bytes=600 << 20)
    with pytest.raises(ValueError, match=r"memory|not readable|ended with"):
        sandbox.parse(reply(b"<p>x " * 40_000_000))
    assert sandbox.parse(reply(LARGE)).title == "t"


def test_a_process_that_dies_is_replaced() -> None:
    sandbox = Sandbox(5000, "lycosa")
    sandbox.parse(reply(LARGE))
    assert sandbox._process
    os.kill(sandbox._process.pid, signal.SIGKILL)
    with pytest.raises(TooCostly):
        sandbox.parse(reply(LARGE))
    assert sandbox.parse(reply(LARGE)).title == "t"


def test_what_cannot_be_read_says_why() -> None:
    with pytest.raises(ValueError, match="image/png: neither HTML nor a sitemap"):
        Parsers().parse(reply(b"\x89PNG" * HEAVY_BYTES, "image/png"))


def test_closing_ends_what_is_going_on() -> None:
    sandbox = Sandbox(5000, "lycosa", cpu_s=100.0)
    sandbox.parse(reply(LARGE))
    ended: list[BaseException] = []

    def work() -> None:
        try:
            sandbox.parse(reply(ENDLESS))
        except TooCostly as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    sandbox.close()
    thread.join(30)
    assert ended


def test_many_open_files() -> None:
    """A crawl has a connection for each request in flight, and more that are kept: numbers above 1,024 are ordinary."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 2_000:
        pytest.skip("this process may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 2_000), before[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        body = b"<title>large</title><p>text"
        reply = Reply(Link("http://a/"), url="http://a/", status=200, content_type="text/html", body=body)
        assert Sandbox(1_000, "lycosa").parse(reply).title == "large"
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_limits_of_the_session_may_be_lower_than_ours() -> None:
    """As with `ulimit -v` and `ulimit -t`: no page is to blame for them."""
    code = (
        "from lycosa.parse.sandbox import Sandbox; from lycosa.types import Link, Reply\n"
        "reply = Reply(Link('http://a/'), url='http://a/', status=200, content_type='text/html', body=b'<title>fine')\n"
        "print(Sandbox(1_000, 'lycosa').parse(reply).title)"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (800 << 20, 800 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit, timeout=60)
    assert ended.stdout == "fine\n", ended.stderr
