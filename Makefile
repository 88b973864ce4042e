# Everything sets itself up from a bare Python 3.11: nothing has to be installed before.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODELS := .cache/models
PACKAGING := .cache/packaging

.PHONY: run test test-long test-ollama check format bench docs model clean

run: $(VENV)/run
	@$(BIN)/ollm models pull --if-missing
	@$(BIN)/ollm

test: $(VENV)/dev model
	$(BIN)/pytest -n 4 --dist worksteal

# Hundreds of kills, thousands of histories, new random examples, the package built and installed,
# and a model of one gigabyte that can use tools: about an hour.
test-long: $(VENV)/dev $(PACKAGING)/ready model
	@OLLM_HOME=$(CURDIR)/.cache/coder $(BIN)/ollm models pull --if-missing qwen2.5-coder:1.5b
	OLLM_LONG=1 $(BIN)/pytest -n 2

# The same wire tests against a real Ollama: make test-ollama OLLAMA=http://127.0.0.1:11434
OLLAMA ?= http://127.0.0.1:11434
test-ollama: $(VENV)/dev
	OLLM_TEST_OLLAMA=$(OLLAMA) $(BIN)/pytest -m ollama

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/pytest tests/architecture

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev model
	$(BIN)/python -m bench

docs: $(VENV)/dev
	$(BIN)/python -m docs.generate

model: $(VENV)/dev
	@OLLM_HOME=$(CURDIR)/.cache $(BIN)/ollm models pull --if-missing

clean:
	rm -rf $(VENV) .cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# compileall: an editable install has no bytecode yet, and without it every start is slow.
$(VENV)/run: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	@$(BIN)/python -m compileall -q ollm_tui
	@touch $@

$(VENV)/dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[local,dev]'
	@$(BIN)/python -m compileall -q ollm_tui
	@touch $@ $(VENV)/run

# What builds and checks the package, apart from the project's own, and the wheels of what it needs:
# the test that installs it needs no network then.
$(PACKAGING)/ready: pyproject.toml
	$(PYTHON) -m venv $(PACKAGING)
	$(PACKAGING)/bin/python -m pip install --quiet --upgrade build hatchling twine
	$(PACKAGING)/bin/python -m pip wheel --quiet --wheel-dir $(PACKAGING)/wheels .
	@touch $@
