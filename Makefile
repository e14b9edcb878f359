# `make demo` and `make test` are all that most people need. Each sets up .venv once, from locked versions: every file
# that is installed has its digest in requirements/*.txt. Both install every extra, and compile ahead.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --no-build-isolation
OURSELVES := $(PIP) --no-deps --no-build-isolation -e .
# What the first command would otherwise compile: modules, templates of pages, loops for paths and sets.
AHEAD := $(BIN)/python -m compileall -q src && $(BIN)/python -m sfumato.reports && $(BIN)/python -m sfumato.core.kernels

.PHONY: demo test test-quick test-full check bench pictures wheel catalogs lock clean

# Files of tests go to the workers in the order that tests/conftest.py gives them.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

demo: .venv/.ready-core
	$(BIN)/sfumato demo -o sfumato-demo

# Every test; properties with the examples of the profile `quick`.
test: .venv/.ready-test .venv/.ready-browser .venv/.ready-engines .venv/.ready-spark
	$(PYTEST)

# While working: the same without the tests marked slow.
test-quick: .venv/.ready-test
	$(PYTEST) -m "not slow"

# Every test with the profile `full`, eleven times the examples of quick: before a release, and every night.
# Then 100,000 changed inputs for every reader and command, and 300 kills at random moments; both print their figures.
test-full: .venv/.ready-test .venv/.ready-browser .venv/.ready-engines .venv/.ready-spark
	$(PYTEST) --hypothesis-profile=full
	$(BIN)/python -m tests.fuzz --inputs 100000 --jobs 2
	$(BIN)/python -m tests.crash.measure 300

check: .venv/.ready-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: .venv/.ready-test
	$(BIN)/python benchmarks/run.py

# Pictures of pages for the README and the docs; they need chromium.
pictures: .venv/.ready-test .venv/.ready-browser
	$(BIN)/python benchmarks/screenshots.py

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("sfumato needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv

.venv/.ready-build: requirements/build.txt | .venv/bin/python
	$(PIP) --require-hashes -r requirements/build.txt
	touch $@

.venv/.ready-core: pyproject.toml requirements/core.txt .venv/.ready-build
	$(LOCKED) -r requirements/core.txt
	$(OURSELVES)
	$(AHEAD)
	touch $@

.venv/.ready-test: pyproject.toml requirements/test.txt requirements/apart.txt .venv/.ready-build
	$(LOCKED) -r requirements/test.txt
	$(LOCKED) --no-deps -r requirements/apart.txt
	$(OURSELVES)
	$(AHEAD)
	touch $@ .venv/.ready-core

# A browser for the tests of pages. Where none is there and none can be installed, these tests are skipped.
.venv/.ready-browser: | .venv/bin/python
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get; then \
		{ timeout 120 apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update; \
		DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -y --no-install-recommends install chromium; } || true; \
	fi >/dev/null 2>&1
	@touch $@

# PostgreSQL and Java for the tests of engines; where they are not there and cannot be installed, these are skipped.
.venv/.ready-engines: | .venv/bin/python
	@if command -v java && ls /usr/lib/postgresql/*/bin/postgres; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get; then \
		{ timeout 120 apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update; \
		DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -y --no-install-recommends install \
			default-jre-headless postgresql; } || true; \
	fi >/dev/null 2>&1
	@touch $@

# Spark has 480 MB and is no part of the extra `all`. Where it cannot be installed, its tests are skipped.
.venv/.ready-spark: requirements/spark.txt .venv/.ready-test
	$(LOCKED) --no-deps -r requirements/spark.txt || echo "Spark could not be installed; its tests are skipped"
	touch $@

.venv/.ready-check: requirements/check.txt .venv/.ready-test
	$(LOCKED) -r requirements/check.txt
	touch $@ .venv/.ready-core

# dist/*.whl; the same bytes from the same commit, wherever and whenever it is built.
wheel: .venv/.ready-build
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build -t wheel

# The catalogs of translations, after a .po file changed.
catalogs: .venv/.ready-test
	$(BIN)/pybabel compile --directory src/sfumato/reports/locale --domain sfumato

# Digests of whatever pyproject.toml asks for. Versions stay as they are; `make lock UPGRADE=--upgrade` takes the newest.
UPGRADE ?=
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header $(UPGRADE)
lock: .venv/.ready-check
	$(COMPILE) requirements/build.in -o requirements/build.txt
	$(COMPILE) --no-deps requirements/apart.in -o requirements/apart.txt
	$(COMPILE) requirements/spark.in -o requirements/spark.txt
	$(COMPILE) pyproject.toml --extra test --extra check -o requirements/check.txt
	$(COMPILE) pyproject.toml --extra test -c requirements/check.txt -o requirements/test.txt
	$(COMPILE) pyproject.toml --extra all -c requirements/check.txt -o requirements/core.txt

clean:
	rm -rf .venv dist sfumato-demo
