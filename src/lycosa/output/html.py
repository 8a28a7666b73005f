"""A report of one crawl as a single HTML file: nothing is loaded from elsewhere, text from the Web is escaped."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from lycosa.output.report import Report
from lycosa.output.show import duration
from lycosa.output.terminal import printable

_STYLE = """
:root { color-scheme: light; }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; background: #fff; color: #222;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.2rem; font-size: 1.2rem; }
.state { margin-top: .2rem; color: #555; }
.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .7rem; padding: 0; }
.totals div { border: 1px solid #dde3ea; border-radius: .4rem; padding: .5rem .8rem; }
.totals dt { color: #555; font-size: .85rem; } .totals dd { margin: 0; font-size: 1.3rem; }
.totals small { display: block; font-size: .85rem; color: #555; }
svg { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #e8ecf0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: #555; } .number { text-align: right; white-space: nowrap; width: 1%; }
a { color: #1b6ca8; overflow-wrap: anywhere; } td { overflow-wrap: anywhere; }
pre { background: #f5f7f9; border-radius: .4rem; padding: 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 0 2.5rem; }
footer { margin-top: 2.5rem; color: #777; font-size: .85rem; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no script and no request, whatever slips through
_SECRET = re.compile("key|token|secret|password|auth|cookie|headers", re.I)  # keys whose values are hidden
_PASSWORD = re.compile(r"(\w+://)[^\s/@]+@")


def page(name: str, state: str, report: Report, picture: str, settings: str, at: float) -> str:
    """The whole file. `picture` is an <svg> element drawn by us; everything else is text."""
    parts = [
        f"<h1>{_text(name)}</h1>\n<p class=state>{_text(state)}</p>",
        _totals(report),
        f"<h2>Harvest</h2>\n{picture}" if picture else "",
        _best(report),
        _columns(_counts("Errors", report.errors), _counts("Links that were not queued", report.refused)),
        _hosts(report),
        _learned(report.learned),
        f"<h2>crawl.toml</h2>\n<pre>{_text(settings, lines=True)}</pre>",
        f"<footer>Written by Lycosa, {datetime.fromtimestamp(at):%Y-%m-%d %H:%M}.</footer>",
    ]
    body = "\n".join(filter(None, parts))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(name)}: crawl report</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def without_secrets(settings: Any) -> Any:
    """A configuration that is safe to pass on: without API keys of search engines and passwords of proxies."""
    if isinstance(settings, dict):
        return {name: "..." if _SECRET.search(name) else without_secrets(value) for name, value in settings.items()}
    if isinstance(settings, list):
        return [without_secrets(value) for value in settings]
    return _PASSWORD.sub(r"\1...@", settings) if isinstance(settings, str) else settings


def _text(words: str, lines: bool = False) -> str:
    """Text from a stranger: escaped, and without control characters such as those that reverse its direction."""
    return escape("\n".join(map(printable, words.split("\n"))) if lines else printable(words))


def _totals(report: Report) -> str:
    speed = report.pages / report.seconds if report.seconds else 0.0
    facts = [
        ("pages", f"{report.pages:,}", f"{report.bytes / 1e6:,.1f} MB"),
        ("relevant", f"{report.relevant:,}", ""),
        ("harvest rate", f"{report.harvest_rate:.3f}", ""),
        ("mean relevance", f"{report.mean_relevance:.3f}", ""),
        ("time", duration(report.seconds), f"{speed:,.1f} pages/s"),
        ("hosts", f"{report.n_hosts:,}", ""),
        ("known URLs", f"{report.known:,}", f"{report.waiting:,} queued"),
        ("failed visits", f"{sum(report.errors.values()):,}", ""),
        ("duplicates", f"{report.duplicates:,}", ""),
        ("strategy", report.strategy, ""),
    ]
    cells = (
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}{f' <small>{_text(more)}</small>' if more else ''}</dd></div>"
        for name, value, more in facts
    )
    return f"<dl class=totals>{''.join(cells)}</dl>"


def _best(report: Report) -> str:
    rows = (
        (f"{best.relevance:.3f}", f"{_text(best.title) or '(no title)'}<br>{_link(best.url)}", _text(best.label))
        for best in report.best
    )
    return _table("Best pages", ["relevance", "page", "class"], rows, numbers=(0,))


def _link(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return _text(url)
    return f'<a href="{_text(url)}" rel="noopener noreferrer nofollow">{_text(url)}</a>'


def _counts(title: str, counts: Mapping[str, int]) -> str:
    rows = sorted(counts.items(), key=lambda item: -item[1])
    return _table(title, ["kind", "count"], ((_text(kind), f"{count:,}") for kind, count in rows), numbers=(1,))


def _hosts(report: Report) -> str:
    rows = ((_text(host.host), f"{host.pages:,}", f"{host.relevant:,}", _text(host.closed)) for host in report.hosts)
    shown = f" ({len(report.hosts)} of {report.n_hosts:,})" if report.n_hosts > len(report.hosts) else ""
    return _table(f"Hosts{shown}", ["host", "pages", "relevant", "closed"], rows, numbers=(1, 2))


def _learned(learned: Mapping[str, Mapping[str, float]]) -> str:
    tables = (
        _table(
            f"Learned: {heading}", ["weight", "for"], ((f"{w:+.2f}", _text(name)) for name, w in weights.items()), (0,)
        )
        for heading, weights in learned.items()
    )
    return _columns(*tables)


def _columns(*tables: str) -> str:
    found = [f"<section>{table}</section>" for table in tables if table]
    return f"<div class=columns>{''.join(found)}</div>" if found else ""


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table of cells that are already HTML. Empty columns are left out; without rows there is no table."""
    kept = list(rows)
    if not kept:
        return ""
    columns = [at for at in range(len(head)) if any(row[at] for row in kept)]
    kinds = {at: ' class="number"' if at in numbers else "" for at in columns}
    lines = ["".join(f"<th{kinds[at]}>{_text(head[at])}</th>" for at in columns)]
    lines += ("".join(f"<td{kinds[at]}>{row[at]}</td>" for at in columns) for row in kept)
    return f"<h2>{_text(title)}</h2>\n<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"
