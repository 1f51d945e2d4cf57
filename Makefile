# Everything runs in a virtual environment of its own; a fresh machine needs Python 3.11+, make and a package registry.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow bench bench-peers screenshots reproduce clean

demo: .venv/installed
	$(BIN)/crowdwise simulate --items 3000 --workers 60 --classes 4 --accuracy 0.6 --seed 1 -o demo
	$(BIN)/crowdwise aggregate demo/labels.csv --truth demo/truth.csv -o demo/inferred.csv --workers demo/quality.csv
	$(BIN)/crowdwise report demo/labels.csv --truth demo/truth.csv -o demo/report.html

test: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

test-slow: .venv/tested
	$(BIN)/pytest -m slow

bench: .venv/tested
	$(BIN)/python -m benchmarks

bench-peers: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.peers

# The images in docs/images; needs chromium.
screenshots: .venv/tested
	$(BIN)/python -m benchmarks.screenshots

# Goes on where an earlier run stopped; `make clean` forgets it. The committed results are in docs/reproduce.
reproduce: .venv/reproduced
	$(BIN)/python -m reproduce

clean:
	rm -rf .venv .venv-peers demo .benchmarks reproduced

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("crowdwise needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

# crowd-kit and the older scikit-learn that it needs, apart from everything else.
.venv-peers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	touch $@

.venv/reproduced: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[reproduce]'
	touch $@
