"""A university site, computed from the URL: departments, lists of people, homepages, publication pages, and others.

Its numbers are those of the school the Publication Spider was tried on: 100 members of staff, who all have a
publication page, 114 full-time and 83 part-time graduates, of whom 10 in 28 and 7 in 21 have one. People work in groups
and write papers together, so that a title on one page leads a search engine to others.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from random import Random

from msgspec import Struct

from lycosa.lab.answer import Answer
from lycosa.lab.vocabulary import COMMON_WORDS, TOPICS, invented

DOMAIN = "university.example"
ROOT = f"http://www.{DOMAIN}"
DEPARTMENTS = ("physics", "health", "management", "arts", "informatics")
AREAS = (("astronomy",), ("medicine", "cooking", "gardening"), ("finance", "law"), ("music", "travel"), ("computing",))
GROUP = 6  # people who publish together
PAPERS = 14  # papers per group
SIGNS = 0.35  # probability that a member of the group is an author of a paper
COURSES, LECTURES, NEWS = 80, 12, 600
NAMES = (  # names of publication pages; the last two are uninformative
    "publications.html",
    "pubs.html",
    "papers/",
    "publist.html",
    "research/publications.html",
    "papers.html",
    "publications/",
    "mypapers.html",
    "work.html",
    "research.html",
)
EXTRAS = ("links.html", "hobbies.html", "photos/1.html", "photos/2.html", "teaching/notes.html", "family.html")
_PERSON = re.compile(r"/~[a-z]+?(\d{1,3})/(.*)")
_OTHER = re.compile(r"/(courses|news)/(?:cs)?(\d{1,4})(?:/lecture-(\d{1,2}))?(?:/|\.html)")
_QUALITIES = "Adaptive Robust Efficient Scalable Probabilistic Formal Comparative Incremental Empirical Unified".split()
_KINDS = "Models Methods Analysis Systems Estimation Measures Structures Approaches Dynamics Theory".split()
_VENUES = ("Journal of Results", "Annual Conference", "Workshop on Methods", "Technical Report")


class University(Struct, frozen=True, dict=True):
    """One site; `linked` is the share of people whose homepage is linked from a list of people."""

    seed: int = 0
    linked: float = 0.27
    staff: int = 100
    full_time: int = 114
    part_time: int = 83

    @property
    def people(self) -> int:
        return self.staff + self.full_time + self.part_time

    def get(self, url: str) -> Answer | None:
        """The page at a URL; None if there is none."""
        if not url.startswith(f"{ROOT}/"):
            return None
        made = self._page(url.removeprefix(ROOT))
        return Answer(body=made.encode()) if made else None

    def page(self, url: str) -> str:
        """Every page has one URL, which is its name."""
        return url if self.get(url) else ""

    resolve = page  # there are no redirects

    def __len__(self) -> int:
        return len(self.pages())

    def is_publication(self, url: str) -> bool:
        """The true class, for evaluation only."""
        person, rest = self._person(url.removeprefix(ROOT))
        return person >= 0 and self.has_page(person) and rest == self._publications(person)

    def publications(self) -> list[str]:
        """Every publication page."""
        chosen = (person for person in range(self.people) if self.has_page(person))
        return [f"{ROOT}{self.home(person)}{self._publications(person)}" for person in chosen]

    def pages(self) -> list[str]:
        """Every page, as indexed by a search engine."""
        return list(self._every())

    def _every(self) -> Iterator[str]:
        for path in ("/", "/about.html", "/courses/", "/news/"):
            yield ROOT + path
        for name in DEPARTMENTS:
            for path in ("", "faculty.html", "students.html"):
                yield f"{ROOT}/departments/{name}/{path}"
        for person in range(self.people):
            yield from (f"{ROOT}{self.home(person)}{name}" for name in ("", *self._extras(person)))
        yield from self.publications()
        for course in range(COURSES):
            yield f"{ROOT}{_course(course)}"
            yield from (f"{ROOT}{_course(course)}lecture-{number}.html" for number in range(1, LECTURES + 1))
        yield from (f"{ROOT}/news/{number}.html" for number in range(NEWS))

    # people

    def has_page(self, person: int) -> bool:
        if person < self.staff:
            return True
        share = 10 / 28 if person < self.staff + self.full_time else 7 / 21
        return self._random("page", person).random() < share

    def is_linked(self, person: int) -> bool:
        return self._random("linked", person).random() < self.linked

    def home(self, person: int) -> str:
        return f"/~{self._names[person].lower()}{person}/"

    def group(self, person: int) -> int:
        """The group of a person: a mix of staff and graduates."""
        return person % self._groups

    def members(self, group: int) -> range:
        return range(group, self.people, self._groups)

    def papers(self, person: int) -> list[tuple[int, int]]:
        """Group and number of every paper of a person."""
        group = self.group(person)
        return [(group, number) for number in range(PAPERS) if person in self.authors(group, number)]

    def authors(self, group: int, number: int) -> list[int]:
        random, members = self._random("authors", group * 1000 + number), self.members(group)
        signed = [person for person in members if random.random() < SIGNS]
        return signed or [members[number % len(members)]]

    def title(self, group: int, number: int) -> str:
        """The title of a paper: words of the group's area."""
        random = self._random("title", group * 1000 + number)
        a, b, c, d = (word.capitalize() for word in random.sample(self._area(group), 4))
        quality, kind = random.choice(_QUALITIES), random.choice(_KINDS)
        patterns = (
            f"{quality} {a} {b} {kind} for {c} {d}",
            f"{a} {kind} of {b} and {c} in {quality} {d} {random.choice(_KINDS)}",
            f"{quality} {kind} of {a} {b} with {c} {d}",
        )
        return random.choice(patterns)

    @property
    def _groups(self) -> int:
        return max(1, self.people // GROUP)

    @cached_property
    def _names(self) -> list[str]:
        return [name.capitalize() for name in invented(Random(f"people {self.seed}"), self.people)]

    def _area(self, group: int) -> tuple[str, ...]:
        areas = AREAS[group % len(DEPARTMENTS)]
        return TOPICS[areas[group // len(DEPARTMENTS) % len(areas)]]

    def _publications(self, person: int) -> str:
        return self._random("name", person).choice(NAMES)

    def _extras(self, person: int) -> list[str]:
        random = self._random("extras", person)
        return random.sample(EXTRAS, random.randint(2, len(EXTRAS)))

    def _person(self, path: str) -> tuple[int, str]:
        """The number of the person whose page it is, and the rest of the path; -1 if it is not a person's page."""
        found = _PERSON.fullmatch(path)
        person = int(found[1]) if found else -1
        if found is None or person >= self.people or not path.startswith(self.home(person)):
            return -1, ""
        return person, found[2]

    def _random(self, use: str, number: int) -> Random:
        return Random(f"{use} {self.seed} {number}")

    # pages

    def _page(self, path: str) -> str:
        person, rest = self._person(path)
        if person >= 0:
            return self._personal(person, rest)
        fixed: dict[str, Callable[[], str]] = {
            "/": self._root,
            "/about.html": lambda: self._made(path, "About the university", []),
            "/courses/": lambda: self._made(path, "Courses", [(_course(n), f"Course {n}") for n in range(COURSES)]),
            "/news/": lambda: self._made(path, "News", [(f"/news/{n}.html", f"Story {n}") for n in range(40)]),
        }
        if path in fixed:
            return fixed[path]()
        return self._department(path) if path.startswith("/departments/") else self._other(path)

    def _root(self) -> str:
        links = [(f"/departments/{name}/", f"Department of {name}") for name in DEPARTMENTS]
        return self._made(
            "/", "The University", [("/about.html", "About"), ("/news/", "News"), ("/courses/", "Courses"), *links]
        )

    def _department(self, path: str) -> str:
        """A department, or a list of its people; those who are not linked are listed without a link."""
        _, _, name, rest = path.split("/", 3)
        if name not in DEPARTMENTS or rest not in ("", "faculty.html", "students.html"):
            return ""
        place = DEPARTMENTS.index(name)
        if not rest:
            courses = [(_course(number), f"Course {number}") for number in range(place, COURSES, len(DEPARTMENTS))]
            return self._made(
                path, f"Department of {name}", [("faculty.html", "Faculty"), ("students.html", "Students"), *courses]
            )
        staff = rest == "faculty.html"
        here = [
            p for p in range(self.people) if self.group(p) % len(DEPARTMENTS) == place and (p < self.staff) == staff
        ]
        items = [
            f"<a href='{self.home(p)}'>{self._names[p]}</a>" if self.is_linked(p) else self._names[p] for p in here
        ]
        listed = "".join(f"<li>{item}</li>" for item in items)
        return self._made(path, f"People of {name}", [("./", "Department")], f"<ul>{listed}</ul>")

    def _personal(self, person: int, rest: str) -> str:
        name = self._names[person]
        if self.has_page(person) and rest == self._publications(person):
            return self._list_of_papers(person)
        if rest:
            known = rest in self._extras(person)
            return (
                self._made(f"{self.home(person)}{rest}", f"{name}: more", [(self.home(person), name)]) if known else ""
            )
        links = [(extra, extra.partition(".")[0]) for extra in self._extras(person)]
        if self.has_page(person):
            links.append((self._publications(person), "What I have written"))
        colleagues = [other for other in self.members(self.group(person)) if other != person and self.is_linked(other)]
        links += [(self.home(other), self._names[other]) for other in colleagues[:2]]
        links.append((f"/departments/{DEPARTMENTS[self.group(person) % len(DEPARTMENTS)]}/", "Department"))
        random, area = self._random("interests", person), self._area(self.group(person))
        interests = ", ".join(random.sample(area, 5))
        return self._made(self.home(person), name, links, f"<p>My interests are {interests}.</p>")

    def _list_of_papers(self, person: int) -> str:
        items = "".join(f"<li>{self._citation(*paper)}</li>" for paper in self.papers(person))
        path, name = f"{self.home(person)}{self._publications(person)}", self._names[person]
        return self._made(path, f"{name}: publications", [(self.home(person), name)], f"<ul>{items}</ul>")

    def _citation(self, group: int, number: int) -> str:
        """A citation in one of three common styles."""
        random = self._random("citation", group * 1000 + number)
        authors = " and ".join(
            f"{self._names[person]} {chr(65 + person % 26)}." for person in self.authors(group, number)
        )
        year, title, venue = random.randint(1998, 2006), self.title(group, number), random.choice(_VENUES)
        ways = (
            f'{authors}: "{title}". In {venue}, {year}.',
            f"{authors} ({year}) {title}, {venue}.",
            f"{authors} {year}. {title}. {venue}.",
        )
        return random.choice(ways)

    def _other(self, path: str) -> str:
        """Courses and news; they contain words of the areas too, so that a search finds them as well."""
        found = _OTHER.fullmatch(path)
        if found is None:
            return ""
        number, lecture = int(found[2]), int(found[3] or 0)
        if found[1] == "news":
            further = [(f"/news/{(number * 7 + step) % NEWS}.html", "More news") for step in range(1, 6)]
            return self._made(path, "News", further) if number < NEWS and path == f"/news/{number}.html" else ""
        course = number - 1000
        expected = f"{_course(course)}lecture-{lecture}.html" if found[3] else _course(course)
        if not 0 <= course < COURSES or lecture > LECTURES or path != expected or (found[3] and not lecture):
            return ""
        links = [("/courses/", "All courses")]
        if not found[3]:
            links += [(f"lecture-{step}.html", f"Lecture {step}") for step in range(1, LECTURES + 1)]
        words = ", ".join(self._random("lecture", number * 100 + lecture).sample(self._area(course), 8))
        return self._made(path, f"Course {number}", links, f"<p>We speak of {words}.</p>")

    def _made(self, path: str, title: str, links: list[tuple[str, str]], more: str = "") -> str:
        words = " ".join(Random(f"words {self.seed} {path}").choices(COMMON_WORDS, k=60))
        shown = "".join(f"<p><a href='{href}'>{name}</a></p>" for href, name in links)
        home = "<p><a href='/'>Home</a></p>"
        return f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{home}{shown}{more}<p>{words}.</p>"


def _course(number: int) -> str:
    return f"/courses/cs{1000 + number}/"
