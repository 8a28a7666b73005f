# Two commands set up everything they need: make demo, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
MINUTES ?= 10
SEED ?= 1

.PHONY: demo test test-cluster check bench soak docs format clean

$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	touch $@

demo: $(VENV)/.dev  ## crawl an embedded web and compare three strategies
	$(BIN)/python -m lycosa.lab.demo --out demo-out

test: $(VENV)/.dev  ## all tests
	$(BIN)/python -m pytest -n auto --dist loadgroup

test-cluster: $(VENV)/.dev  ## crawls on a Ray cluster of three nodes on this machine, parts of which are killed
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,cluster]'; then \
		LYCOSA_CLUSTER_TESTS=1 $(BIN)/python -m pytest tests/cluster tests/shards/test_wire.py; \
	else \
		echo "test-cluster: LEFT OUT, because Ray cannot be installed here"; \
	fi

check: $(VENV)/.dev  ## lint, format, types
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy

bench: $(VENV)/.bench  ## Lycosa beside Scrapy on the same web, in one run
	$(BIN)/python bench/run.py --out bench-out

soak: $(VENV)/.dev  ## random faults against crawls; MINUTES=60 SEED=1
	$(BIN)/python bench/soak --minutes $(MINUTES) --seed $(SEED)

docs: $(VENV)/.dev  ## the whole documentation as a site in site/, with its links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

format: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests bench
	$(BIN)/ruff format src tests bench

clean:
	rm -rf $(VENV) demo-out bench-out site
