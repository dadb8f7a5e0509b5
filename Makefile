# Two commands: `make check` (the main job) and `make test` (the tests). Each sets itself up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: check test pages trainers lint types docs trace clean

# The environment is made anew when the pins or the package's metadata change.
$(VENV)/.ready: constraints.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# Status 1 means that a loader fails a MUST: that is a finding, not a breakdown, for loaders that
# are not ours.
check: $(VENV)/.ready
	$(BIN)/midepoch check reference --profile quick --jobs $(JOBS)
	$(BIN)/midepoch check torchdata --profile quick --jobs $(JOBS) || test $$? -eq 1

# Some tests wait for most of their time: two processes more than jobs keep the CPUs busy.
test: $(VENV)/.ready
	$(BIN)/python -m pytest -n $$(($(JOBS) + 2)) --dist worksteal --durations=50

# The commands of the pages where they take long.
pages: $(VENV)/.ready
	MIDEPOCH_PAGES=long $(BIN)/python -m pytest -n $(JOBS) --dist worksteal docs/tests/test_fences.py

# The integrations with trainers, and the recipes that need datasets or webdataset, in an environment
# of their own.
$(VENV)-trainers/.ready: constraints.txt constraints-trainers.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-trainers
	$(VENV)-trainers/bin/python -m pip install --quiet --constraint constraints.txt \
		--constraint constraints-trainers.txt --editable '.[conformance,recipes,trainers]'
	touch $@

trainers: $(VENV)-trainers/.ready
	$(VENV)-trainers/bin/python -m pytest -n $$(($(JOBS) + 2)) --dist worksteal impl/tests/integrations
	$(VENV)-trainers/bin/python -m pytest -n $(JOBS) --dist worksteal docs/tests/test_recipes.py \
		-k 'Hugging or webdataset'

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.ready
	$(BIN)/mypy

docs: $(VENV)/.ready
	$(BIN)/python docs/tests/offline_mkdocs.py build --strict

trace: $(VENV)/.ready
	$(BIN)/python conformance/tests/traceability.py

clean:
	rm -rf $(VENV) $(VENV)-trainers site build dist
