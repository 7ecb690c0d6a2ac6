# From a fresh clone: `make demo` shows it, `make test` tests it. Nothing but Python 3.11, make and the package index.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMPS := .venv/.stamps

.PHONY: demo test test-all setup bench lint lock clean
demo: setup
	@$(BIN)/cuestream demo

test: $(STAMPS)/dev
	@$(BIN)/pytest

test-all: $(STAMPS)/dev
	@$(BIN)/pytest -m ''

bench: $(STAMPS)/dev
	@$(BIN)/python -m bench

lint: $(STAMPS)/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

setup: $(STAMPS)/run

$(STAMPS)/venv:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' || \
	  { echo "cuestream needs Python 3.11 or 3.12: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Setting up .venv (once; a minute or two)"
	@"$(PYTHON)" -m venv .venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv requirements/run.txt pyproject.toml
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements/run.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@

# Writes the locks again from pyproject.toml (needs pip-tools in .venv).
lock: $(STAMPS)/venv
	@$(BIN)/pip install --quiet pip-tools
	@$(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements/run.txt pyproject.toml
	@$(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-find-links --no-annotate --no-header --extra dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml

clean:
	rm -rf .venv build dist *.egg-info .cuestream
