# Everything sets itself up in .venv; Python 3.11 or newer and make are all it needs.

.DEFAULT_GOAL := help
.PHONY: help demo test check full bench docs format clean

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The first that runs and is new enough; say `make PYTHON=…` for another.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

help: ## List these.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Import the bundled sessions, build the memory offline, look into it.
	$(BIN)/eukhe demo

test: $(READY) ## Run the tests.
	$(BIN)/pytest -n 2

check: $(READY) ## Format, lint, types, imports, numbers, files, words, and docs that repeat code.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/check_imports.py
	$(BIN)/python tools/check_numbers.py
	$(BIN)/python tools/check_files.py
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/rules.py --check
	$(BIN)/python tools/docs_cli.py --check

full: check ## Run all there is, with many more examples; minutes, not seconds.
	EUKHE_TESTS=full $(BIN)/pytest -n 2 --timeout 3600

bench: $(READY) ## Measure; prints the README's table.
	$(BIN)/python tools/bench.py

docs: $(READY) ## Write docs/memory.md and docs/cli.md anew.
	$(BIN)/python tools/rules.py
	$(BIN)/python tools/docs_cli.py

format: $(READY) ## Format and mend what ruff can mend.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the set-up and everything that was made.
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "eukhe needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@
