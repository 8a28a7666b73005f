"""crawl.toml is changed as a person would change it."""

import tomllib

import pytest

from lycosa.console.toml_text import with_values
from lycosa.errors import BadInput

TEXT = """# What this is about.
seeds = ["http://a.example/"]  # [topic]

[topic]
kind = "ontology"
focus = ["wader"]      # ids or "#names"
limit = 0.05

[topic.weights]   # to the focus
focus = 1.0
rest = 0.1

[limits]
pages = 10
"""


def test_only_the_values_change() -> None:
    changed = with_values(TEXT, "topic", {"focus": ["wader", 'a "b" #c'], "weights": {"rest": 0.2, "hierarchy": 0.5}})
    expected = TEXT.replace('["wader"]', '["wader", "a \\"b\\" #c"]').replace(
        "rest = 0.1", "rest = 0.2\nhierarchy = 0.5"
    )
    assert changed == expected


def test_what_is_missing_is_added_where_it_belongs() -> None:
    text = "seeds = []\n[topic]\nkind = 'ontology'\n\n# the end\n[limits]\npages = 10"
    changed = with_values(text, "topic", {"focus": ["x"], "weights": {"rest": 0.3}})
    assert changed == (
        "seeds = []\n[topic]\nkind = 'ontology'\nfocus = [\"x\"]\n[topic.weights]\nrest = 0.3\n\n# the end\n"
        "[limits]\npages = 10\n"
    )


def test_values_on_several_lines_and_tables_on_one() -> None:
    text = "[topic]\nfocus = [\n  'a', # first\n  'b',\n]\nweights = { rest = 0.5 } # few\n[fetch]\ndelay_s = 1\n"
    changed = with_values(text, "topic", {"focus": ["b"], "weights": {"focus": 0.9}})
    assert changed == '[topic]\nfocus = ["b"]\nweights = { rest = 0.5, focus = 0.9 } # few\n[fetch]\ndelay_s = 1\n'


@pytest.mark.parametrize(
    "text",
    [
        "topic = { kind = 'ontology', focus = ['a'] }\n",
        "topic.kind = 'ontology'\ntopic.focus = ['a']\n",
        "[topic]\nkind = 'ontology'\nweights.focus = 1.0\nweights.rest = 0.1\n",
        "['topic']\nkind = 'ontology'\n",
    ],
)
def test_unusual_ways_to_write_it_are_left_alone(text: str) -> None:
    tomllib.loads(text)
    with pytest.raises(BadInput, match="change it by hand"):
        with_values(text, "topic", {"focus": ["b"], "weights": {"rest": 0.3}})
