# make demo    set up and run the bundled demo (no key, no network after the install)
# make test    set up and run the tests
# make check   everything: format, lint, types, import contracts, tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint check lock bench clean

demo: $(VENV)/.installed
	$(BIN)/rosetta demo

test: $(VENV)/.tests
	$(BIN)/python -P -m pytest -n auto

lint: $(VENV)/.tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

bench: $(VENV)/.tests
	for name in scoring_statistics scoring_intervals fst_stage end_to_end run_live live_table start_up gate_simulation review_keys; do $(BIN)/python -P -m benchmarks.$$name || exit 1; done

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.tests: $(VENV)/.installed requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

# Locks hold hashes only, for every platform and Python that we support.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
		--extra words --group build pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
		--extra words --extra hfst --extra embeddings --extra desktop --group build --group dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) dist build
