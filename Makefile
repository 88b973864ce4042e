# Everything sets itself up from a bare Python 3.11: nothing has to be installed before.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODELS := .cache/models
PACKAGING := .cache/packaging

.PHONY: run test test-fast test-more test-data test-long test-ollama test-wire mutants coverage check format \
	bench docs pictures \
	model clean

run: $(VENV)/run
	@$(BIN)/ollm models pull --if-missing
	@$(BIN)/ollm

# Each behaviour once. Compiled tests are kept, whatever the surroundings say: without them every
# process reads all anew.
test: $(VENV)/dev model
	OLLM_TESTS=usual PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 3 --dist worksteal --ignore tests/architecture
	@echo "left out: tests/architecture (make check)"

# What `make test` leaves out and is not long: the other sizes, the other cases, the corners.
test-more: $(VENV)/dev model
	OLLM_TESTS=more PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 3 --dist worksteal --ignore tests/architecture

# For the hand, while writing: no model, no terminal, no process, of the screens the chat only, and
# one example in four.
NOT_FAST := architecture cli snapshots web services/extensions services/jobs services/mcp \
	services/sandbox services/sync tui/browser tui/compare tui/compression tui/context \
	tui/conversations tui/jobs tui/models tui/search
test-fast: $(VENV)/dev
	OLLM_TESTS=usual OLLM_EXAMPLES=25 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist worksteal \
		-m 'not model and not terminal and not slow' $(addprefix --ignore tests/,$(NOT_FAST))
	@echo "left out: $(NOT_FAST)"

# The long tests that guard what was said: kills at every call and at random, a full disk.
test-data: $(VENV)/dev
	OLLM_LONG=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 4 --dist worksteal \
		tests/end_to_end/test_crash_of_the_command.py tests/end_to_end/test_crash_at_every_call.py \
		tests/end_to_end/test_restore_crashes.py tests/end_to_end/test_snapshot_crashes.py \
		tests/end_to_end/test_disk_full.py

# Hundreds of kills, thousands of histories, the package built and installed, and a model of one
# gigabyte that can use tools: about an hour.
test-long: $(VENV)/dev $(PACKAGING)/ready model
	@OLLM_HOME=$(CURDIR)/.cache/coder $(BIN)/ollm models pull --if-missing qwen2.5-coder:1.5b
	OLLM_LONG=1 $(BIN)/pytest -n 2

# The same wire tests against a real Ollama: make test-ollama OLLAMA=http://127.0.0.1:11434
OLLAMA ?= http://127.0.0.1:11434
test-ollama: $(VENV)/dev
	OLLM_TEST_OLLAMA=$(OLLAMA) $(BIN)/pytest -m ollama

# The adapters against aimock, a mock server of others, where Node is; and against llama.cpp.
AIMOCK := .cache/aimock/node_modules/@copilotkit/aimock/dist/cli.js
test-wire: $(VENV)/dev model $(AIMOCK)
	OLLM_LONG=1 OLLM_AIMOCK=$(CURDIR)/$(AIMOCK) $(BIN)/pytest tests/providers/test_aimock.py \
		tests/providers/test_llama_cpp_formats.py tests/providers/test_vendor_clients.py

$(AIMOCK):
	@mkdir -p .cache/aimock
	npm install --silent --prefix .cache/aimock @copilotkit/aimock

# Breaks a copy of the program in one place after the other: each time its property has to go red.
mutants: $(VENV)/dev
	$(BIN)/python -m tests.mutants

# What no test reaches, the worst first: make coverage TESTS=tests/services for a part.
TESTS ?= tests
coverage: $(VENV)/dev model
	@rm -rf .cache/coverage && mkdir -p .cache/coverage
	-$(BIN)/coverage run -m pytest -n 4 --dist worksteal $(TESTS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

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

# What must hold, at the full number of runs: about two hours. One of them: make gates GATE=G11
gates: $(VENV)/dev model
	$(BIN)/python -m bench.gates $(GATE)

docs: $(VENV)/dev
	$(BIN)/python -m docs.generate

# All pictures of the documents, the moving one too. Chromium draws them; Debian has it and the
# fonts as chromium, fonts-firacode and fonts-noto-core.
pictures: $(VENV)/dev
	$(BIN)/python -m docs.make_pictures

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
