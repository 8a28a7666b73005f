"""The text of generated pages: sentences on the topic around the links, in the markup of real pages.

All phrases are made once from the random seed; a page only picks and joins, so it takes less than a millisecond.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import add
from random import Random
from typing import TypeVar

from msgspec import Struct

from lycosa.lab.vocabulary import COMMON_WORDS, FUNCTION_WORDS, NEUTRAL_ANCHORS, invented, topic_names, topic_words

_T = TypeVar("_T")
_THEMES = 32  # a page uses three of them, so that pages of one topic differ
_PHRASES = 48  # half-sentences per theme
_SENTENCE_BYTES = 105  # on average; used to estimate how many are needed
_PARAGRAPH = '</p>\n<p class="body-text">'
_CARD = '</p></div>\n<div class="card card--wide" data-track="block"><p class="card__text">'


class Text(Struct, frozen=True):
    """The topics, how strongly a page uses the words of its own, and the size of pages."""

    topics: tuple[str, ...] = topic_names(10)
    size_bytes: tuple[int, int] = (20_000, 60_000)
    strength: float = 0.35  # share of the topic's words among content words


class Anchor(Struct, frozen=True, gc=False):
    """A link on a page."""

    href: str
    topic: int  # of the target; -1 if the words should not reveal it


class Theme(Struct, frozen=True):
    """One of many ways to write about a topic."""

    openings: list[str]
    endings: list[str]
    asides: list[str]


class PageText(Struct, frozen=True):
    """Phrases for every topic, made from one random seed."""

    general: list[Theme]  # on no topic
    themes: list[list[Theme]]  # per topic
    anchors: list[list[str]]  # per topic
    names: list[str]
    accented: list[str]
    style: str
    data: bytes  # filler for scripts

    def title(self, random: Random, topic: int) -> str:
        """Half of the titles name the topic."""
        named = random.random() < 0.5
        phrase = _pick(random, self.anchors[topic]) if named else _pick(random, NEUTRAL_ANCHORS)
        return f"{phrase.capitalize()} - {_pick(random, self.names)} {int(random.random() * 9000) + 1000}"

    def page(self, random: Random, topic: int, links: list[Anchor], size: int) -> bytes:
        """The HTML of a page on a topic with these links, as close to the size as the links allow."""
        plain = random.random() < 0.5  # half of the pages contain non-ASCII characters, as on the real Web
        names = self.names if plain else self.accented
        own = random.sample(self.themes[topic], 3) if topic >= 0 else random.sample(self.general, 3)
        themes = [*own, *own, _pick(random, self.general)]
        title = self.title(random, topic) if topic >= 0 else f"{_pick(random, names)}"
        menu, listed, inline = links[:8], links[8::3], [link for i, link in enumerate(links[8:]) if i % 3]
        parts = [self._head(random, title, size), self._menu(random, menu), f"<main><article><h1>{title}</h1>\n"]
        parts += self._inline(random, themes, names, inline)
        parts += ["<h2>Related</h2><ul class='related'>", *(self._item(random, link) for link in listed), "</ul>\n"]
        room = size - sum(map(len, parts)) - 400
        parts.append(self._paragraphs(random, themes, names, int(room * 0.16)))
        parts.append(
            f"</article></main>\n<footer>{'(c)' if plain else '&copy;'} {_pick(random, names)} and others</footer>\n"
        )
        return self._closed(random, "".join(parts).encode(), size)

    def _head(self, random: Random, title: str, size: int) -> str:
        style = self.style[: min(len(self.style), size // 8)].rpartition("}")[0]
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f'<title>{title}</title><meta name="description" content="{_pick(random, NEUTRAL_ANCHORS)}">'
            f'<link rel="stylesheet" href="/static/site.css"><style>{style}{"}" if style else ""}</style></head>\n'
            "<body>"
        )

    def _menu(self, random: Random, links: list[Anchor]) -> str:
        items = "".join(
            f'<li class="nav__item nav__item--{place}"><span class="nav__icon" aria-hidden="true"></span>'
            f'<a class="nav__link" href="{link.href}"><span>{self._words(random, link)}</span></a></li>'
            for place, link in enumerate(links)
        )
        return f'<header><nav><ul><li><a href="/">Home</a></li>{items}</ul></nav></header>\n'

    def _words(self, random: Random, link: Anchor) -> str:
        return _pick(random, self.anchors[link.topic] if link.topic >= 0 else NEUTRAL_ANCHORS)

    def _item(self, random: Random, link: Anchor) -> str:
        theme = _pick(random, self.themes[link.topic] if link.topic >= 0 else self.general)
        aside = _pick(random, theme.asides)
        return (
            '<li class="related__item"><div class="tile tile--small"><div class="tile__picture"><img alt="" '
            f'src="/static/{int(random.random() * 500)}.webp" width="96" height="64"/></div><div class="tile__text">'
            f'<h3><a href="{link.href}">{self._words(random, link)}</a></h3> <p>{aside}</p></div></div></li>\n'
        )

    def _inline(self, random: Random, themes: list[Theme], names: list[str], links: list[Anchor]) -> list[str]:
        """Links inside the text: the words around a link describe its target if its anchor does."""
        parts = []
        for link in links:
            own = _pick(random, themes)
            near = _pick(random, self.themes[link.topic] if link.topic >= 0 else self.general)
            anchor = f'<a href="{link.href}" class="link link--inline">{self._words(random, link)}</a>'
            if random.random() < 0.5:
                parts.append(f'<p class="body-text">{_pick(random, near.openings)}{anchor}.</p>\n')
            else:
                parts.append(
                    f'<section class="body-text"><div class="body-text__meta"><span>{_pick(random, names)}</span></div>'
                    f"<p>{_pick(random, own.endings).capitalize()}{_pick(random, near.openings)}{anchor}.</p>"
                    "</section>\n"
                )
        return parts

    def _paragraphs(self, random: Random, themes: list[Theme], names: list[str], size: int) -> str:
        count = max(0, size // (_SENTENCE_BYTES * len(themes)))
        parts: list[str] = []
        for theme in themes:
            parts += map(add, random.choices(theme.openings, k=count), random.choices(theme.endings, k=count))
        random.shuffle(parts)
        parts = [f"{part}{_pick(random, names)}: " for part in parts]  # each page has unique words
        parts[::5] = [part + _PARAGRAPH for part in parts[::5]]
        parts[::9] = [f"{part}{_CARD}{int(random.random() * 1000)} " for part in parts[::9]]
        return f'<div class="card"><p class="card__text">{"".join(parts)}</p></div>\n'

    def _closed(self, random: Random, html: bytes, size: int) -> bytes:
        opening, closing = b'<script type="application/json">"', b'"</script></body></html>\n'
        room = size - len(html) - len(opening) - len(closing)
        if room <= 0:
            return html + b"</body></html>\n"
        data = self.data * (room // len(self.data) + 1)
        first = int(random.random() * (len(data) - room))
        return html + opening + data[first : first + room] + closing


@lru_cache(maxsize=8)
def page_text(text: Text, seed: int) -> PageText:
    """The phrases of a web, made once per process."""
    random = Random(f"prose {seed}")
    words = [topic_words(name) for name in text.topics]
    names = [name.capitalize() for name in invented(random, 5000)]
    return PageText(
        general=[_theme(random, (), 0.0) for _ in range(_THEMES)],
        themes=[[_theme(random, some, text.strength) for _ in range(_THEMES)] for some in words],
        anchors=[_anchors(random, name, some) for name, some in zip(text.topics, words, strict=True)],
        names=names,
        accented=[name + random.choice(("é", "ö", "ñ", "å")) for name in names],
        style="".join(_rule(random) for _ in range(120)),
        data=" ".join(random.choices(COMMON_WORDS, k=20_000)).encode(),
    )


def _pick(random: Random, items: Sequence[_T]) -> _T:
    return items[int(random.random() * len(items))]  # three times faster than random.choice


def _theme(random: Random, words: tuple[str, ...], strength: float) -> Theme:
    topical = random.sample(words, min(len(words), 24))
    common = random.sample(COMMON_WORDS, 70)

    def phrase(length: int) -> str:
        chosen = []
        for _ in range(length):
            if random.random() < 0.45:
                chosen.append(_pick(random, FUNCTION_WORDS))
            else:
                chosen.append(_pick(random, topical if topical and random.random() < strength else common))
        return " ".join(chosen)

    return Theme(
        openings=[phrase(random.randint(4, 11)).capitalize() + " " for _ in range(_PHRASES)],
        endings=[phrase(random.randint(4, 11)) + ". " for _ in range(_PHRASES)],
        asides=[phrase(random.randint(2, 5)) for _ in range(_PHRASES)],
    )


def _anchors(random: Random, name: str, words: tuple[str, ...]) -> list[str]:
    patterns = (
        "{a} {b}",
        "{a} and {b}",
        "guide to {a} {b}",
        "{t}: {a}",
        "more on {a}",
        "{t} {a}",
        "{a}",
        "the {a} of {b}",
    )
    found = []
    for _ in range(200):
        a, b = random.sample(words, 2)
        found.append(random.choice(patterns).format(a=a, b=b, t=name))
    return found


def _rule(random: Random) -> str:
    name = "-".join(random.sample(COMMON_WORDS, 2))
    return f".{name}{{margin:{random.randint(0, 40)}px;color:#{random.randrange(16**6):06x};display:block}}\n"
