"""The soak itself: one tiny round with one kill, and what its checks make of crawls that are not as they should be."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOAK = Path(__file__).parent.parent / "bench" / "soak"
PORT = 9


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the soak, whose modules find each other as those of a program do."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(SOAK)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(SOAK)):
            del sys.modules[name]


@pytest.mark.xdist_group("processes")
def test_a_tiny_round_with_one_kill(tmp_path: Path) -> None:
    options = ["--rounds", "1", "--faults", "1", "--only", "kill", "--plain", "--pages", "16", "--webs", "1"]
    command = [sys.executable, str(SOAK), *options, "--seed", "1", "--out", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "seed 1: 1 rounds, 1 faults; all 2 crawls as they should be" in ended.stdout


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize(
    "options", [["--how", "refuse"], ["--how", "dns hang", "--after", "0"], ["--how", "hang", "--shards", "2"]]
)
def test_a_small_crawl_with_a_second_without_a_network(options: list[str], tmp_path: Path) -> None:
    command = [sys.executable, str(SOAK / "outage.py"), "--pages", "30", "--seconds", "1", *options]
    command += ["--out", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "30 of 30 pages" in ended.stdout


def outcome(soak: Any, web: Any, **changes: Any) -> Any:
    """Of a crawl of the web that brought back everything, but for these changes."""
    known, good = web.expected()
    visits = [(url, url, "" if url in good else "http-404", "a.warc.gz", at) for at, url in enumerate(sorted(known))]
    facts = {
        "visits": visits,
        "waiting": set(),
        "done": known,
        "closed": set(),
        "recorded": sorted(known),
        "places": {("a.warc.gz", at): url for at, url in enumerate(sorted(known))},
        "damage": "",
    }
    return soak("check").Outcome(**facts | changes)


def test_a_whole_crawl_does_not_differ(soak: Any) -> None:
    web = soak("web").Web(1, PORT, 60)
    assert soak("check").compare(web, outcome(soak, web), outcome(soak, web), went_wild=False) == []


def test_what_differs_is_named(soak: Any) -> None:
    web = soak("web").Web(1, PORT, 60)
    whole = outcome(soak, web)
    page = next(visit for visit in whole.visits if not visit[2] and not web.site(visit[0]).goes_wild)
    lost = outcome(soak, web, visits=[visit for visit in whole.visits if visit is not page and visit != page])
    failed = outcome(soak, web, visits=[(*visit[:2], "connect", *visit[3:]) for visit in whole.visits if visit == page])
    twice = outcome(soak, web, visits=[*whole.visits, page], recorded=[*whole.recorded, page[0]])
    waits = outcome(soak, web, waiting={page[0]}, done=whole.done - {page[0]})
    moved = outcome(soak, web, places={})

    def lines(other: Any) -> str:
        return "\n".join(soak("check").compare(web, other, whole, went_wild=False))

    assert f"1 pages lost: {page[0]}" in lines(lost)
    assert f"1 another error than undisturbed: {page[0]} (a page -> connect)" in lines(failed)
    assert f"1 visited twice: {page[0]}\n1 stored twice: {page[0]}" in lines(twice)
    assert f"1 left waiting without a reason: {page[0]}" in lines(waits)
    assert "pages not in the WARC where the database says" in lines(moved)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (["1.0 S 1 H /a", "1.1 E 1 full 0.0", "1.3 S 2 H /b", "1.3 E 2 full 0.0"], []),
        (["1.0 S 1 H /a", "1.1 E 1 full 0.0", "1.12 S 2 H /b"], ["1 requests too early: H/b (delay: 0.020 s"]),
        (["1.0 S 1 H /a", "1.1 E 1 full 1", "1.9 S 2 H /b"], ["1 requests too early: H/b (Retry-After: 0.800 s"]),
        (["1.0 S 1 H /a", "2.0 E 1 full 0.0", "2.5 S 2 H /b"], ["1 requests too early: H/b (rest after a slow reply"]),
        (["1.0 S 1 H /a", "1.2 S 2 H /b", "1.5 E 1 cut 0.0"], ["1 requests while another was under way: H/b"]),
        (["1.0 S 1 H /a", "1.2 S 2 H /b", "1.3 E 1 cut 0.0"], []),  # the server was slow to see that the crawler left
        (["5.0 S 1 H /a", "5.0 E 1 full 1", "5.3 S 2 H /b"], []),  # the crawler died before it could read the reply
        (
            ["1.0 S 1 H /robots.txt", "1.1 E 1 full 0.0", "2.0 S 2 H /private/1"],
            ["1 requests robots.txt forbids: H/private/1"],
        ),
        (["1.0 S 1 H /robots.txt", "1.1 E 1 cut 0.0 wild", "2.0 S 2 H /private/1"], []),  # it served rubbish instead
    ],
)
def test_the_servers_log_tells_who_was_impolite(soak: Any, tmp_path: Path, log: list[str], said: list[str]) -> None:
    web = soak("web").Web(1, PORT, 60)
    host = web.sites[7].host
    path = tmp_path / "server.log"
    path.write_text("\n".join(log).replace("H", host) + "\n")
    lines = soak("check").impolite(web, path, forgiven=[(4.9, 5.1)])
    assert len(lines) == len(said)
    assert all(line.startswith(start.replace("H", host)) for line, start in zip(lines, said, strict=True))


def test_every_address_of_the_web_has_an_answer(soak: Any) -> None:
    """Whole, or one of the broken ones."""
    web, replies = soak("web").Web(1, PORT, 60), soak("replies")
    for url, spot in web.spots.items():
        sound, _, _ = replies.answer(web, url, spot.fails)
        assert bool(sound) == (spot.kind not in replies.BROKEN), url
