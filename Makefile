# make demo    set up and run the bundled demo (no key, no network after the install)
# make test    set up and run the tests
# make check   everything: format, lint, types, import contracts, tests
# make check-thorough    the same, with what takes long and every repetition that the docs claim
# make coverage          the share of lines that the tests, and the programs they start, reach
# make bench   every script of docs/internals/benchmarks.md but the bundle's, in one table: dist/benchmarks.md
# make reviewer-bundle   the reviewer's window without an installer, and what goes on a stick, in dist/
# make web     the reviewer's page, from web/ into review/browser/built (needs npm)
# make wheelhouse        the full program for computers without network, in dist/wheelhouse
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
BUNDLE = .venv-bundle
# more words for pytest: make test TESTS=tests/scoring
TESTS ?=
# only the tests with this mark: make test ONLY=every_python
ONLY ?=
# how often make bench runs each script
TIMES ?= 1
# archives that were built on other systems: make reviewer-bundle BUILT='--windows FILE --macos FILE'
BUILT ?=

BENCHMARKS = scoring_statistics packs_wer scoring_intervals bleu_coverage fst_stage end_to_end floors run_live judges vault box publish memory million live_table start_up first_call package_import app_keys store_sorting \
	sweep heat_map compare peeking official best_baseline racing gate_simulation review_keys review_import review_page review_window review_window_start

# Tests start many programs: none of them compiles our modules anew, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint check check-thorough coverage lock bench clean reviewer-bundle web wheelhouse

demo: $(VENV)/.installed
	$(BIN)/rosetta demo

# A worker keeps the libraries that its tests load. So the tests run in parts, one after the other, the last with all that
# the others leave out: each worker needs at most 500 MB, and 700 MB in one run. TESTS=tests/… is one run.
PARTS = 'tests/tui' 'tests/review tests/desktop' tests/harness \
	'tests --ignore=tests/tui --ignore=tests/review --ignore=tests/desktop --ignore=tests/harness'

# A worker for each core, and each file in one worker: what a file shares is made once. The order is that of tests/conftest.py.
# Where the system can, in a namespace without a network: nothing that a test starts reaches another machine.
# Every part runs, whatever fails. The result is that of the last part that failed; 5, no tests, if no part has any.
test: $(VENV)/.tests
	result=5; for part in $(if $(filter tests%,$(TESTS)),'',$(PARTS)); do \
		$(BIN)/python -P tests/without_network.py -n logical --dist loadfile --no-loadscope-reorder $(if $(ONLY),-m $(ONLY)) $$part $(TESTS); \
		code=$$?; case $$code in 0) test $$result = 5 && result=0;; 5) ;; *) result=$$code;; esac; \
	done; exit $$result

lint: $(VENV)/.tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -P packaging/advisories.py check

check: lint test

check-thorough:
	ROSETTA_THOROUGH=1 $(MAKE) check

# Workers of pytest and programs that tests start are measured too: [tool.coverage.run]. Tests of what a program loads
# fail beside it, for the measuring is loaded as well; so the figure is printed whatever fails.
coverage: $(VENV)/.tests
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest -n logical $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --format=total

bench: $(VENV)/.tests
	$(BIN)/python -P -m benchmarks dist/benchmarks.md $(TIMES) $(BENCHMARKS)

reviewer-bundle: $(BUNDLE)/.installed
	$(BUNDLE)/bin/python packaging/reviewer/build.py $(BUILT)

web:
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run check && node build.mjs ../review/browser/built

wheelhouse: $(VENV)/.installed
	$(BIN)/python packaging/reviewer/wheelhouse.py

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.tests: $(VENV)/.installed requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

$(BUNDLE)/.installed: packaging/requirements-bundle.lock
	$(PYTHON) -m venv $(BUNDLE)
	$(BUNDLE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

# Locks hold hashes only, for every platform and Python that we support. Beside them lies what the index knows of
# weaknesses of what they name, for `make lint` to look at without a network.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
		--extra words --extra fonts --extra formats --group build pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
		--extra words --extra fonts --extra formats --extra hfst --extra embeddings --extra desktop --extra sql --extra meteor --extra cluster --extra postgres --extra engine --extra parquet --group build --group dev pyproject.toml -o requirements-dev.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
		packaging/requirements-bundle.in -o packaging/requirements-bundle.lock
	$(PYTHON) -P packaging/advisories.py ask

clean:
	rm -rf $(VENV) $(BUNDLE) dist build
