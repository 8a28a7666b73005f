"""The last lines of a crawl: what it found, why it stopped, which seeds failed, and what to do next."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lycosa.output.show import duration
from lycosa.output.terminal import printable

_NO_ANSWER = "no host has answered"  # the reason for ending a run in which no host answers starts with this
_MOST_NAMED = 3  # seeds that failed for one reason
_REMEDIES = {
    "private-address": "a private address: set allow_private = true under [fetch] in crawl.toml to permit it",
    "connect": "connection refused: is the server running, and is the port right?",
    "dns": "the host name was not found: check the spelling and the network",
    "timeout": "no reply in time: try again later, or raise total_s under [fetch]",
    "tls": "no secure connection: the certificate is not valid, or the server uses another protocol",
    "disconnected": "the server closed the connection without a reply: try again later",
    "incomplete": "the reply was truncated: try again later",
    "robots": "its robots.txt forbids it: start from another page, or ask the site's owner",
    "robots-unreachable": "its robots.txt could not be fetched, so nothing else may be for now: try again later",
    "content-type": "not an HTML page (see content_types under [fetch])",
    "too-large": "too large (see max_bytes under [fetch])",
    "empty": "the page is empty",
    "judge": "the judge of the topic has a bug: the traceback is in crawl.log",
    "http-401": "the server requires a password: start from a public page",
    "http-403": "the server refuses: start from another page, or say who you are in user_agent under [fetch]",
    "http-404": "there is no such page: check the URL",
    "http-410": "the page is gone: check the URL",
    "http-429": "too many requests: try again later, or raise delay_s under [fetch]",
    "http-5xx": "the server has a problem: try again later",
    "out-of-scope": "it redirects out of the [scope]",
}
_TELLING = (
    "content-type",
    "out-of-scope",
    "redirect-",
    "parse",
    "judge",
    "decode",
    "protocol",
    "tls",
    "excluded",
    "trap-",
)


def ending(summary: Mapping[str, Any], folder: str, stopped_by_user: bool) -> list[str]:
    """Two or three lines; one more for each reason why seeds failed, or why nobody answered."""
    name = folder.rstrip("/").rpartition("/")[2] or folder
    lines = [f"{name}: {_brought(summary)}; {_stopped(summary, stopped_by_user)}"]
    if failed := summary.get("failed_seeds"):
        number = summary["seeds"]
        told = f"{len(failed):,} of {number:,} {_plural(number, 'seed')} failed:"
        reasons = [*_reasons(failed)]
        lines += [f"{told} {reasons[0]}"] if len(reasons) == 1 else [told, *(f"  {line}" for line in reasons)]
    if found := summary.get("recall", {}).get("words"):
        lines.append(f"{found[0].upper()}{found[1:]}.")
    if drift := summary.get("drift"):
        lines.append(f"Drift: {printable(drift)}.")
    if summary["ended"].startswith(_NO_ANSWER) and (last := summary.get("last_failure")):
        lines.append(f"{printable(last)}{_remedy(last.rpartition(': ')[2])}")
    if hosts := summary.get("unreachable"):
        lines.append(_unreachable(hosts))
    if retried := summary.get("retried"):
        lines.append(_retried(retried))
    lines.append(_next(summary, shlex.quote(folder), stopped_by_user))
    return lines


def _brought(summary: Mapping[str, Any]) -> str:
    spent = f"in {duration(summary['seconds'])}"
    pages = summary["pages"]
    if not pages:
        return f"no pages {spent}"
    rate = f"harvest rate {summary['harvest_rate']:.3f}"
    return f"{pages:,} {_plural(pages, 'page')} {spent}, {summary['relevant']:,} relevant ({rate})"


def _stopped(summary: Mapping[str, Any], stopped_by_user: bool) -> str:
    waiting = summary["waiting"] + summary["in_flight"]
    rest = f", {waiting:,} {_plural(waiting, 'URL')} still queued" if waiting else ""
    why = summary["ended"] or "interrupted"
    return f"{why}{rest}" if stopped_by_user else f"stopped: {why}{rest}"


def _reasons(failed: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """One line for each kind of failure: some of the seeds, the kind, what to do about it."""
    kinds: dict[str, list[Mapping[str, str]]] = {}
    for seed in failed:
        kinds.setdefault(seed["error"], []).append(seed)
    for kind, seeds in kinds.items():
        named = ", ".join(printable(seed["url"]) for seed in seeds[:_MOST_NAMED])
        more = f" and {len(seeds) - _MOST_NAMED:,} more" if len(seeds) > _MOST_NAMED else ""
        detail = seeds[0]["detail"] if kind.startswith(_TELLING) else ""
        told = f" ({printable(detail)})" if detail else ""
        yield f"{named}{more}: {kind}{told}{_remedy(kind)}"


def _remedy(kind: str) -> str:
    """What can be done about a failure, behind its name."""
    remedy = _REMEDIES.get("http-5xx" if kind.startswith("http-5") else kind, "")
    return f", {remedy}" if remedy else ""


def _unreachable(hosts: Mapping[str, int]) -> str:
    """URLs that are queued at unreachable hosts."""
    count, most = sum(hosts.values()), sorted(hosts, key=lambda name: -hosts[name])
    named = ", ".join(printable(name) for name in most[:_MOST_NAMED])
    more = f" and {len(hosts) - _MOST_NAMED:,} more" if len(hosts) > _MOST_NAMED else ""
    waits = "URL is queued" if count == 1 else "URLs are queued"
    where = "a host" if len(hosts) == 1 else "hosts"
    return f"{count:,} {waits} at {where} that could not be reached: {named}{more}. The next run tries again."


def _retried(retried: Mapping[str, int]) -> str:
    """What happened to URLs that had failed before."""
    urls, failed, waiting = retried["urls"], retried["failed"], retried["waiting"]
    if not urls:
        return "Nothing to retry: no URL failed for a temporary reason."
    parts = [
        f"{urls - failed - waiting:,} succeeded",
        *([f"{failed:,} failed again"] if failed else []),
        *([f"{waiting:,} still queued"] if waiting else []),
    ]
    return f"Retried {urls:,} failed {_plural(urls, 'URL')}: {', '.join(parts)}."


def _next(summary: Mapping[str, Any], folder: str, stopped_by_user: bool) -> str:
    """The next command, depending on what happened."""
    crawl, look = f"lycosa crawl {folder}", f"Next: lycosa show {folder}"
    limits, why = summary["limits"], summary["ended"]
    if stopped_by_user or (why.startswith(_NO_ANSWER) and summary["pages"]):
        return f"Next: {crawl}   (continues where it stopped)"
    if why.startswith("limit of"):
        if "relevant" in why:
            return f"{look}   (more: {crawl} --set limits.relevant={2 * max(limits['relevant'], summary['relevant'])})"
        if "recall" in why:
            return f"{look}   (more: {crawl} --set limits.recall={(1 + limits['recall']) / 2:g})"
        if "seconds" in why:
            return f"{look}   (longer: {crawl} --set limits.seconds={2 * limits['seconds']:g})"
        return (
            f"{look}   (more: {crawl} --pages {2 * max(limits['pages'], summary['pages'])})"  # a limit may be lowered
        )
    if not summary["pages"]:
        return f"Next: {crawl}   (tries the seeds again)"
    if number := summary.get("may_pass", 0):
        return f"{look}   (retry {number:,} {_plural(number, 'URL')} that failed: {crawl} --retry failed)"
    return f"{look}   (more: {crawl} --seed URL)"


def _plural(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"
