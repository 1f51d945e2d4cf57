# Everything runs in a virtual environment of its own; a fresh machine needs Python 3.11+, make and a package registry.
PYTHON ?= python3
BIN := .venv/bin
COMPILED := src/crowdwise/kernels/__pycache__

.PHONY: demo generated kernels test test-slow test-spark attack bench bench-scale bench-spark bench-peers reproduce screenshots clean

demo: .venv/installed $(COMPILED)/current
	$(BIN)/crowdwise simulate --items 3000 --workers 60 --classes 4 --accuracy 0.6 --seed 1 -o demo
	$(BIN)/crowdwise aggregate demo/labels.csv --truth demo/truth.csv -o demo/inferred.csv --workers demo/quality.csv
	$(BIN)/crowdwise report demo/labels.csv --truth demo/truth.csv -o demo/report.html

test: .venv/tested $(COMPILED)/current generated
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

# What follows from the code: the public names' stub, the listing in docs/design.md, docs/methods.md.
generated: .venv/tested $(COMPILED)/current
	$(BIN)/python -m tools.generate

test-slow: .venv/tested $(COMPILED)/current
	$(BIN)/pytest -m slow

test-spark: .venv/spark $(COMPILED)/current
	$(BIN)/pytest -m spark tests

# As many hostile cases as wanted, in every area of tests/attack; every failure says how to repeat it.
N ?= 10000
attack: .venv/tested $(COMPILED)/current
	$(BIN)/python -m tests.attack --cases $(N)

bench: .venv/tested $(COMPILED)/current
	$(BIN)/python -m benchmarks

bench-scale: .venv/tested $(COMPILED)/current
	$(BIN)/python -m benchmarks.scale

bench-spark: .venv/spark $(COMPILED)/current
	$(BIN)/python -m benchmarks.spark

bench-peers: .venv-peers/installed $(COMPILED)/current
	.venv-peers/bin/python -m benchmarks.peers

# Goes on where an earlier run stopped; `make clean` forgets it. The committed results are in docs/reproduce.
reproduce: .venv/installed $(COMPILED)/current
	$(BIN)/python -m reproduce

# The images in docs/images; needs chromium.
screenshots: .venv/tested $(COMPILED)/current
	$(BIN)/python -m benchmarks.screenshots

# Forget compiled kernels that are older than a source.
kernels: $(COMPILED)/current

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

.venv/spark: .venv/tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	touch $@

# Numba does not notice when a kernel's callee in another file changed, so compiled kernels are removed when any source is
# newer.
$(COMPILED)/current: $(wildcard src/crowdwise/kernels/*.py src/crowdwise/kernels/simd/*.py)
	mkdir -p $(COMPILED)
	rm -f $(COMPILED)/*.nb[ci] src/crowdwise/kernels/simd/__pycache__/*.nb[ci]
	touch $@

# crowd-kit and the older scikit-learn that it needs, apart from everything else.
.venv-peers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	touch $@
