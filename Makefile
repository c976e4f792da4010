# `make demo` sets everything up and runs the main job; `make test` passes all tests. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
ROOT := $(filter 0,$(shell id -u))
# What the rehearsal fleet needs, and what only tests need on top of it.
LAB_PACKAGES := mmdebstrap systemd-container apt-utils iproute2 openssh-client
TEST_PACKAGES := $(LAB_PACKAGES) openssh-server sudo fish tcsh chromium sysbench
LAB := .rollout/lab/demo/inventory.yml
INSTALL = if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then dpkg -s $(1) >/dev/null 2>&1 || \
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(1); }; fi

.DEFAULT_GOAL := help
.PHONY: help venv debian debian-test fault-test bench-test waves-test demo test lint format unit ansible-test lab-test exact-test page-test bench clean

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

debian: ## install the Debian packages of the rehearsal fleet (root)
	@$(call INSTALL,$(LAB_PACKAGES))

debian-test: ## install the Debian packages that the tests need as well (root)
	@$(call INSTALL,$(TEST_PACKAGES))

demo: venv ## the main job on three real hosts (root, Linux), else the plan of the recorded fleet
ifeq ($(ROOT)-$(shell uname),0-Linux)
	@$(MAKE) --no-print-directory debian
	$(BIN)/rollout lab up --hosts 3 --name demo --publish-fix
	$(BIN)/rollout facts $(LAB)
	$(BIN)/rollout plan $(LAB) --playbook rehearsal --sample 1
	$(BIN)/rollout apply --yes
	$(BIN)/rollout verify $(LAB)
	$(BIN)/rollout rollback $(LAB) --yes
	@echo "The hosts are as they were, so that verify now has to say no:"
	! $(BIN)/rollout verify $(LAB)
	$(BIN)/rollout history
	@echo "Each run is in .rollout/runs; one page of the last apply: rollout report. The fleet stays up: rollout lab down --name demo"
else
	$(BIN)/rollout facts inventories/example
	$(BIN)/rollout plan inventories/example
	@echo "A rehearsal fleet of real hosts needs Linux and root; this was the recorded fleet."
endif

lint: venv ## ruff, ruff format, mypy strict; every test file can be read
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(BIN)/pytest tests --collect-only -qq >/dev/null || $(BIN)/pytest tests --collect-only -qq

format: venv ## let ruff format and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: venv debian-test ## tests of pure code, seconds
	$(BIN)/pytest tests/unit -q -n 2

lab-test: venv debian-test ## tests on the rehearsal fleet (root, Linux)
	$(BIN)/pytest tests/fleet -q --durations=30 -m "not matrix and alone"
	$(BIN)/pytest tests/fleet -q --durations=30 -m "not matrix and not alone" --ignore-glob='*/test_faults_*' -n 2 --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest tests/fleet/test_faults_*.py -q -m "not matrix" -n 3 --maxschedchunk=1

fault-test: venv debian-test ## the whole matrix of faults, four hosts at a time, and its table (root, Linux)
	$(BIN)/pytest tests/fleet/test_faults_*.py -q -n 4 --maxschedchunk=1

bench-test: venv debian-test ## every way in which a measurement on a host may end, on the rehearsal fleet (root, Linux)
	$(BIN)/pytest tests/fleet/test_bench_host.py -q

waves-test: venv debian-test ## a fleet of all kinds is changed while it is written to (root, Linux; minutes)
	$(BIN)/pytest tests/fleet/test_mixed_fleet.py -q -s

exact-test: venv debian-test ## two hundred random programs a version: the simulator against real servers (root)
	EXACT_PROGRAMS=$${EXACT_PROGRAMS:-200} $(BIN)/pytest tests/fleet/test_exactness.py -q -s

ansible-test: venv ## inventories, patterns and vaults given to the real Ansible too
	$(BIN)/pytest tests/differential -q

bench: venv ## speed of the simulator beside libCacheSim and a minimal list; minutes
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/python -m benchmarks.speed --large

page-test: venv debian-test ## tests of the report's page in a real browser (root, Linux)
	$(BIN)/pytest tests/page -q

test: unit ansible-test lab-test page-test ## all tests

clean: ## remove what was built here (not the cache of base trees)
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
