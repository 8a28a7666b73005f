"""What makes a page costly to parse."""

import re
from collections.abc import Callable

import pytest

_TAGS = re.compile(rb"<(?!(?:a|area|base|body|frame|frameset|head|html|i?frame|img|link|meta|title)[\s/>])[a-z]", re.I)


@pytest.fixture
def costly_tags() -> Callable[[bytes], int]:
    """Counts the tags that can nest or be opened again without end; those that carry links cannot."""
    return lambda html: len(_TAGS.findall(html))
