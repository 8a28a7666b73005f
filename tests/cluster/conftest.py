"""These tests need Ray and minutes: `make test-cluster` runs them."""

import os

import pytest

IS_WANTED = bool(os.environ.get("LYCOSA_CLUSTER_TESTS"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "cluster" in item.path.parent.name and not IS_WANTED:
            item.add_marker(pytest.mark.skip(reason="needs Ray: run by make test-cluster"))
