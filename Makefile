# Onceward's commands. Each target does all of its own set-up: a bare machine needs Python 3.11+ and make.
# `make` alone prints this list. Recipes are plain POSIX shell and work with the make of macOS (3.81).
SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# Set-up is done again when what it depends on changes, and costs nothing otherwise.
STAMP := $(VENV)/.setup-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)
# Every lock: hashes of each file, for every system, and no registry's address (docs/adr/0050).
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate

.PHONY: help
help: ## print this list
	@echo "Onceward. Each command sets itself up (Python 3.11+ and make are all it needs):"; echo
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(STAMP) ## make .venv from requirements.lock (every other target does this first)

$(STAMP):
	@set -e; \
	python=; \
	for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Onceward needs Python 3.11 or newer; none of python3, python3.13, python3.12, python3.11 is." >&2; \
	  echo "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/where/it/is/python3" >&2; exit 1; \
	fi; \
	if ! $(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  echo "Making $(VENV) with $$($$python --version)"; "$$python" -m venv --clear $(VENV); \
	fi; \
	echo "Installing what requirements.lock names (a minute or two the first time)"; \
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock >$(VENV)/uv.lock; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $(VENV)/uv.lock; \
	.ci/install $(BIN); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	rm -f $(VENV)/.setup-*; touch $@

.PHONY: demo
demo: setup ## the main job: local AWS, sample tenants, a duplicate storm, the check, a verdict
	@$(BIN)/onceward demo

.PHONY: soak
soak: setup ## a storm of 200,000 requests over 20,000 keys and 20 tenants, and whether memory is constant
	@$(BIN)/onceward soak

.PHONY: up
up: setup ## start the local platform in the background (or update it)
	@$(BIN)/onceward local up

.PHONY: down
down: setup ## stop the local platform
	@$(BIN)/onceward local down

.PHONY: test
test: setup chromium iam-simulator bundles ## every test; STRICT=1 fails on a skipped one
	@.ci/test $(BIN)/python $(if $(STRICT),-p tests.no_skips)

.PHONY: check
check: setup ## format, lint, types, import contracts, the repository's own rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/onceward tenants schema --check
	$(BIN)/onceward openapi --check
	$(BIN)/python -m pytest -q -n 0 tests/unit/test_repository.py

.PHONY: bench
bench: setup ## measure requests and times of the write path, ours beside the peer's
	@$(BIN)/python -m bench

.PHONY: proof
proof: setup ## search every schedule of the real code for a counterexample, at full size (minutes)
	@$(BIN)/python -m proof

.PHONY: chaos
chaos: setup ## a storm under injected faults; SEED=7 replays one, CHAOS='--requests 500' sets its size
	@$(BIN)/python -m chaos $(if $(SEED),--seed $(SEED)) $(CHAOS)

.PHONY: fuzz
fuzz: setup ## hostile inputs for everything that reads others'; SECONDS= a target, SEED=
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --only-binary :all: --require-hashes -r fuzz/atheris.lock || true
	@$(BIN)/python -m fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

.PHONY: format
format: setup ## put the code into the format that check asks for
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lock
lock: setup ## write the lock files again (after a change of pyproject.toml or a *.in file)
	$(COMPILE) pyproject.toml --extra dev -o requirements.lock
	$(COMPILE) tests/iam_simulator/node.in -o tests/iam_simulator/node.lock
	$(COMPILE) fuzz/atheris.in -o fuzz/atheris.lock
	for each in $(patsubst bundle/%.in,%,$(wildcard bundle/*.in)); do \
	  $(COMPILE) --python-version 3.11 bundle/$$each.in -o bundle/$$each.lock || exit 1; done

.PHONY: chromium
chromium: setup # the browser of the form's tests: Debian's, where it is missing and we may install it
	@if ! $(BIN)/python -m tests.e2e.lead_form.chromium; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing Chromium from the distribution's packages"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  else echo "No Chromium found (and no right to install one): the browser tests will be skipped by name"; fi; fi

.PHONY: iam-simulator
iam-simulator: setup # the policy simulator of the isolation tests (a separate Node process; docs/adr/0052)
	@sh tests/iam_simulator/install.sh $(BIN)/python

.PHONY: bundles
bundles: setup # the functions' zips, which each of the tests' processes would build beside the others
	@$(BIN)/python -m tests.bundles

.PHONY: clean
clean: ## remove .venv, caches and the tests' Node packages (not .onceward: `make down` first)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist *.egg-info
	rm -rf tests/iam_simulator/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
