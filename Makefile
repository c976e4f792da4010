# `make demo` sets everything up and runs the main job; `make test` passes all tests. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
ROOT := $(filter 0,$(shell id -u))
LAB_PACKAGES := mmdebstrap systemd-container apt-utils iproute2 openssh-client openssh-server sudo fish tcsh chromium

.DEFAULT_GOAL := help
.PHONY: help venv debian demo test lint format unit lab-test page-test bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

venv: .venv/.complete ## make .venv with everything in it

.venv/.complete: pyproject.toml
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  $(if $(ROOT),{ apt-get update -q && apt-get install -y -q python3-venv python3-dev gcc; },{ echo "rollout needs Python 3.11 or newer with venv (Debian: apt-get install python3-venv)"; exit 1; })
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -e '.[test,lint]'
	@touch $@

debian: ## install the Debian packages of the rehearsal fleet and of the tests (root)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  dpkg -s $(LAB_PACKAGES) >/dev/null 2>&1 || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(LAB_PACKAGES); }; \
	fi

lint: venv ## ruff, ruff format, mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: venv ## let ruff format and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: venv debian ## tests of pure code, seconds
	$(BIN)/pytest tests/unit -q

lab-test: venv debian ## tests on the rehearsal fleet (root, Linux)
	$(BIN)/pytest tests/fleet -q

page-test: venv debian ## tests of the report's page in a real browser (root, Linux)
	$(BIN)/pytest tests/page -q

test: unit lab-test page-test ## all tests

clean: ## remove what was built here (not the cache of base trees)
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
