# Everything runs in virtual environments of its own; a fresh machine needs Python 3.11 or newer, make and a package registry.
PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
PLATFORMS := CROWDWISE_PLATFORMS=$(CURDIR)/.venv-platforms/bin/python
# The environment of a study: some need peers such as crowd-kit, Spark, or the platforms' own packages.
NEEDS := $(or $(if $(filter $(NAME),gold peers planning ranking),.venv-peers/installed),$(if $(filter $(NAME),spark),.venv/spark),\
	$(if $(filter $(NAME),importing),.venv/tested .venv-platforms/installed),.venv/tested)
KERNELS := $(addprefix methods/test_,adjudicator belief_propagation bwa contract degenerate glad numeric spectral) \
	$(addprefix numerics/test_,kernels twins twins_around) crowd/test_labels crowd/test_votes sources/test_text_files \
	sources/test_json_forms analysis/test_blocks analysis/test_ordinal partitions/test_disk
.PHONY: demo test test-all checked generated pages test-bounds test-longest test-package test-extras test-spark test-s3a test-platforms \
	attack bench bench-review reproduce study screenshots site clean

demo: .venv/installed # A simulated crowd, its answers and its report, in the folder demo.
	$(BIN)/crowdwise simulate --n-items 3000 --n-workers 60 --n-classes 4 --concentration 4 --traps 0.3 --seed 1 -o demo --force
	$(BIN)/crowdwise aggregate demo/labels.csv --truth demo/truth.csv -o demo/inferred.csv --workers-output demo/quality.csv
	$(BIN)/crowdwise compare demo/labels.csv --truth demo/truth.csv --methods mv,bwa,adjudicator
	$(BIN)/crowdwise report demo/labels.csv --truth demo/truth.csv -o demo/report.html
	@echo 'To decide items on a page: $(BIN)/crowdwise review demo/labels.csv'
test: checked # Under five minutes on two cores, also in a fresh clone.
	$(BIN)/pytest -n 2 -m 'not slow and not longest and not spark and not data'
test-all: checked # More random examples, slow tests, and the real crowds if they are there; no Spark.
	CROWDWISE_TESTS=all $(BIN)/pytest -n 2 -m 'not longest and not spark'
checked: .venv/tested generated
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy && $(BIN)/lint-imports
generated: .venv/tested # What follows from the code: the stub of public names, the table of methods.
	$(BIN)/python -m tools.generate
pages: .venv/tested # The output of the examples in the documentation, and the charts that they save.
	$(BIN)/python -m tools.executed_pages
test-bounds: .venv/tested # Kernels on crowds of any size, with every index checked; such kernels are kept apart.
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/checked-kernels $(BIN)/pytest -n 2 $(patsubst %,tests/%.py,$(KERNELS))
test-longest: .venv/tested
	$(BIN)/pytest -m longest
test-package test-extras: # The sdist and the wheel, or the wheel with every extra, in clean environments.
	$(PYTHON) -m tools.packages $(if $(filter test-extras,$@),extras)
test-spark: .venv/spark
	$(BIN)/pytest -m spark tests
test-s3a: .venv/spark .venv/s3a/jars # Spark on a store that speaks as S3 does, on this machine.
	CROWDWISE_S3A_JARS=$(CURDIR)/.venv/s3a/jars $(BIN)/pytest -m spark tests/partitions/test_spark_s3a.py
test-platforms: .venv/tested .venv-platforms/installed # Exports made by the platforms' own code.
	$(PLATFORMS) $(BIN)/pytest tests/platforms/test_platforms.py
attack: .venv/tested # Hostile cases in every area of tests/attack: `make attack N=10000`.
	$(BIN)/python -m tests.attack --cases $(or $(N),10000)
bench reproduce: .venv/tested # Speed, memory and sizes; the paper's tables, from where an earlier run stopped.
	$(BIN)/python -m studies $(@:bench=benchmarks)
bench-review: .venv/tested # The page with 10^6 labels in a browser; then what decisions are worth, on the crowds in CROWDWISE_DATA.
	$(BIN)/python -m studies review_page
	$(BIN)/python -m studies review
study: $(NEEDS) # One study: `make study NAME=gold`; without a name, the list of all.
	$(PLATFORMS) $(dir $(firstword $(NEEDS)))bin/python -m studies $(NAME)
screenshots: .venv/tested # The images in docs; needs chromium.
	$(BIN)/python -m tools.screenshots
site: .venv-docs/installed # The documentation in build/site; a broken link stops it.
	.venv-docs/bin/mkdocs build
clean:
	rm -rf .venv .venv-docs .venv-peers .venv-platforms build dist demo .benchmarks reproduced .calibrated

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("crowdwise needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv && $(BIN)/python $(PIP) --editable '.[report,review]' && touch $@
.venv/tested: .venv/installed
	$(BIN)/python $(PIP) --editable '.[test]' && touch $@
.venv/spark: .venv/tested
	$(BIN)/python $(PIP) --editable '.[spark]' && touch $@
.venv/s3a/jars: .venv/spark # Of the packages on PyPI, this one has Hadoop's jars for s3a; it is not installed, as it needs an older pyspark.
	rm -rf .venv/s3a && mkdir -p .venv/s3a/unpacked
	$(BIN)/python -m pip download --quiet --no-deps --no-binary :all: --dest .venv/s3a 'sagemaker-pyspark==1.4.5'
	tar -xzf .venv/s3a/sagemaker_pyspark-1.4.5.tar.gz -C .venv/s3a/unpacked --strip-components 3 --wildcards \
		'*/hadoop-aws-3.3.1.jar' '*/aws-java-sdk-bundle-1.11.901.jar' && mv .venv/s3a/unpacked $@
.venv-docs/installed: pyproject.toml # mkdocs 2 has another interface.
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(PIP) 'mkdocs>=1.6,<2' 'mkdocs-material>=9.6' 'mkdocstrings-python>=2.0' ruff && touch $@
.venv-peers/installed: pyproject.toml # crowd-kit needs an older scikit-learn.
	$(PYTHON) -m venv .venv-peers && .venv-peers/bin/python $(PIP) --editable '.[peers]' && touch $@
.venv-platforms/installed: Makefile # They need an older NumPy; toloka-kit 1.2.3 fails with newer httpx and cattrs.
	$(PYTHON) -m venv .venv-platforms && .venv-platforms/bin/python $(PIP) \
		'label-studio-sdk>=2.1' 'argilla>=2.8' 'datasets>=5.2' 'toloka-kit>=1.2' 'httpx<0.28' 'cattrs<23' && touch $@
