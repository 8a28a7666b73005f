"""The last lines of a crawl."""

from typing import Any

import pytest

from lycosa.output.ending import ending

KINDS = (
    "private-address connect dns timeout tls disconnected incomplete robots robots-unreachable content-type too-large"
    " empty http-401 http-403 http-404 http-410 http-429 http-500 http-503 out-of-scope"
).split()


def summary(**more: Any) -> dict[str, Any]:
    return {
        "pages": 10,
        "relevant": 4,
        "harvest_rate": 0.4,
        "waiting": 7,
        "in_flight": 0,
        "seconds": 21.3,
        "ended": "frontier empty",
        "limits": {"pages": 10, "relevant": 0, "seconds": 0.0},
        "seeds": 1,
        "failed_seeds": [],
        "may_pass": 0,
        **more,
    }


def failed(*seeds: str, error: str = "dns", detail: str = "") -> list[dict[str, str]]:
    return [{"url": url, "error": error, "detail": detail} for url in seeds]


@pytest.mark.parametrize(
    ("limits", "why", "words"),
    [
        ({"pages": 10}, "limit of 10 pages", "(more: lycosa crawl stars --pages 20)"),
        ({"pages": 5}, "limit of 5 pages", "(more: lycosa crawl stars --pages 20)"),  # lowered after 10 pages
        ({"relevant": 4}, "limit of 4 relevant pages", "(more: lycosa crawl stars --set limits.relevant=8)"),
        ({"seconds": 2.5}, "limit of 2.5 seconds", "(longer: lycosa crawl stars --set limits.seconds=5)"),
        ({}, "frontier empty", "(more: lycosa crawl stars --seed URL)"),
    ],
)
def test_the_next_command_fits_the_reason(limits: dict[str, float], why: str, words: str) -> None:
    first, last = ending(summary(limits=limits, ended=why), "stars", False)
    assert first == f"stars: 10 pages in 21 s, 4 relevant (harvest rate 0.400); stopped: {why}, 7 URLs still queued"
    assert last == f"Next: lycosa show stars   {words}"


def test_what_the_user_stopped_goes_on() -> None:
    first, last = ending(summary(ended="stopped by the user", waiting=0, in_flight=1), "stars", True)
    assert first.endswith("; stopped by the user, 1 URL still queued")
    assert last == "Next: lycosa crawl stars   (continues where it stopped)"


def test_without_pages_the_next_run_tries_the_seeds_again_unless_its_time_is_spent() -> None:
    spent = summary(pages=0, ended="limit of 5 seconds", limits={"pages": 9, "relevant": 0, "seconds": 5.0})
    assert ending(summary(pages=0), "c", False)[-1] == "Next: lycosa crawl c   (tries the seeds again)"
    assert ending(spent, "c", False)[-1].endswith("(longer: lycosa crawl c --set limits.seconds=10)")


def test_a_folder_with_a_space_can_be_pasted_into_a_shell() -> None:
    lines = ending(summary(), "my crawls/the stars", False)
    assert lines[0].startswith("the stars: ")
    assert lines[-1].startswith("Next: lycosa show 'my crawls/the stars'   ")


@pytest.mark.parametrize("kind", KINDS)
def test_every_reason_has_a_remedy(kind: str) -> None:
    line = ending(summary(failed_seeds=failed("http://a/", error=kind)), "c", False)[1]
    told = line.removeprefix(f"1 of 1 seed failed: http://a/: {kind}, ")
    assert told != line
    assert len(told) > 10


def test_many_seeds_with_one_reason_take_one_line() -> None:
    seeds = failed(*(f"http://{number}/" for number in range(12))) + failed("http://z/", error="redirect-loop")
    lines = ending(summary(seeds=2_000, failed_seeds=seeds), "c", False)
    assert lines[1] == "13 of 2,000 seeds failed:"
    assert lines[2].startswith("  http://0/, http://1/, http://2/ and 9 more: dns, ")
    assert lines[3] == "  http://z/: redirect-loop"


def test_a_detail_that_tells_more_is_shown_but_does_not_speak_to_the_terminal() -> None:
    seeds = failed("http://a/", error="content-type", detail="application/\x1b]0;pdf")
    line = ending(summary(failed_seeds=seeds), "c", False)[1]
    assert "content-type (application/ ]0;pdf), not an HTML page" in line


def test_what_became_of_the_retried() -> None:
    lines = ending(summary(retried={"urls": 9, "failed": 2, "waiting": 3}), "c", False)
    assert lines[1] == "Retried 9 failed URLs: 4 succeeded, 2 failed again, 3 still queued."


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ({"a": 1}, "1 URL is queued at a host that could not be reached: a. The next run tries again."),
        (
            {"a": 1, "b": 3, "c": 2, "d": 1},
            "7 URLs are queued at hosts that could not be reached: b, c, a and 1 more. The next run tries again.",
        ),
    ],
)
def test_what_waits_at_hosts_that_could_not_be_reached_is_named(hosts: dict[str, int], words: str) -> None:
    assert words in ending(summary(unreachable=hosts), "stars", False)


def test_nothing_is_said_of_hosts_when_all_could_be_reached() -> None:
    assert not any("reached" in line for line in ending(summary(unreachable={}), "stars", False))
