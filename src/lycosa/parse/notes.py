"""What a page says about itself: base, canonical URL, language, and whether its links may be followed."""

import re
from collections.abc import Mapping

_FORBIDDING = frozenset(("nofollow", "none"))
_WITH_VALUE = ("max-", "unavailable_after")  # these are followed by a colon too, but are not names of robots
_UNFOLLOWED = frozenset(("nofollow", "ugc", "sponsored"))
_refresh = re.compile(
    r"[\d.]*+(?:\s*+[;,]|(?<=[\d.])\s)\s*+(?:url\s*+=\s*+)?(\"[^\"]*+|'[^']*+|[^\s;,].*+)", re.IGNORECASE | re.DOTALL
).match
_two_letters = re.compile(r"\s*([a-zA-Z]{2})(?![a-zA-Z0-9])").match


class Notes:
    """Collected from the tags of the head, and from those that broken markup moved into the body."""

    def __init__(self, robot: str) -> None:
        self.robot = robot
        self.base = ""  # the references below are as written on the page
        self.canonical = ""
        self.language = ""
        self.refresh = ""
        self.may_follow = True

    @property
    def selector(self) -> str:
        """The tags worth reading, as CSS."""
        in_language = '[name="language" i],' if not self.language else ""
        return f'{in_language}[name="robots" i],[name="{self.robot}" i],[http-equiv],[rel~="canonical" i],base'

    def read(self, tag: str, given: Mapping[str, str | None]) -> None:
        """Read a tag with its attributes; of two that say the same the first counts."""
        if tag == "base":
            self.base = self.base or given.get("href") or ""
        elif tag == "link":
            if "canonical" in (given.get("rel") or "").lower().split():
                self.canonical = self.canonical or given.get("href") or ""
        elif tag == "meta":
            self._read_meta((given.get("name") or given.get("http-equiv") or "").lower(), given.get("content") or "")

    def _read_meta(self, name: str, content: str) -> None:
        if name in ("robots", self.robot):
            self.may_follow = self.may_follow and not forbids_following(content, self.robot)
        elif name == "refresh":
            found = _refresh(content.strip())
            self.refresh = self.refresh or (found[1].strip("\"' \t\r\n") if found else "")
        elif name in ("content-language", "language"):
            self.language = self.language or language(content)


def forbids_following(directives: str, robot: str) -> bool:
    """Does a robots meta tag or an X-Robots-Tag header say nofollow (or none) to everyone, or to this robot?"""
    addressee = ""
    for directive in directives.lower().split(","):
        name, colon, rest = directive.strip().partition(":")
        if name.startswith(_WITH_VALUE):
            continue
        if colon:
            addressee, name = name.strip(), rest.strip()
        if name in _FORBIDDING and addressee in ("", robot):
            return True
    return False


def forbids_link(rel: str) -> bool:
    """Do these link relations say that the link must not be followed?"""
    return not _UNFOLLOWED.isdisjoint(rel.lower().split())


def language(tag: str) -> str:
    """The two letters of a language tag such as en-GB; empty if there are none."""
    found = _two_letters(tag)
    return found[1].lower() if found else ""
