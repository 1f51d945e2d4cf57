# Everything runs in a virtual environment of its own; a fresh machine needs Python 3.11+, make and a package registry.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo generated pages checked test test-all test-bounds test-longest test-extras test-spark test-s3a test-platforms attack bench bench-scale bench-tables bench-importing bench-ordinal bench-numeric bench-spark bench-peers bench-gold bench-planning bench-review reproduce calibrate screenshots site clean

demo: .venv/installed
	$(BIN)/crowdwise simulate --items 3000 --workers 60 --classes 4 --concentration 4 --traps 0.3 --seed 1 -o demo --force
	$(BIN)/crowdwise aggregate demo/labels.csv --truth demo/truth.csv -o demo/inferred.csv --workers demo/quality.csv
	$(BIN)/crowdwise compare demo/labels.csv --truth demo/truth.csv --methods mv,bwa,adjudicator
	$(BIN)/crowdwise report demo/labels.csv --truth demo/truth.csv -o demo/report.html
	@echo 'To decide items on a page: $(BIN)/crowdwise review demo/labels.csv'

# Under five minutes on two cores, also in a fresh clone.
test: checked
	$(BIN)/pytest -n 2 -m 'not slow and not longest and not spark and not data'

# Every test but those in Spark and the longest; five times as many random examples, and the real crowds if they are there.
test-all: checked
	CROWDWISE_TESTS=all $(BIN)/pytest -n 2 -m 'not longest and not spark'

checked: .venv/tested generated
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What follows from the code: the public names' stub and docs/methods.md.
generated: .venv/tested
	$(BIN)/python -m tools.generate

# The output of the examples in docs/tutorial.md and docs/usage.md, and the charts that they save.
pages: .venv/tested
	$(BIN)/python -m tools.executed_pages

# The kernels with every index checked, on crowds of any size: machine code writes outside of an array in silence, and something else crashes later.
# They are kept apart from the others; so tests/test_kernel_cache.py, about where kernels are kept, is left out.
test-bounds: .venv/tested
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/checked-kernels $(BIN)/pytest -n 2 \
		$(addprefix tests/test_,contract.py kernels.py belief_propagation.py adjudicator.py bwa.py degenerate.py \
		glad.py numeric.py labels.py text_files.py json_forms.py blocks.py ordinal.py spectral.py disk.py twins.py \
		twins_around.py votes.py)

test-longest: .venv/tested
	$(BIN)/pytest -m longest

# Every extra in a clean environment of its own: what it promises works with what it installs, and nothing else.
test-extras:
	$(PYTHON) -m tools.extras

test-spark: .venv/spark
	$(BIN)/pytest -m spark tests

# Spark on a store that speaks as S3 does, on this machine.
test-s3a: .venv/spark .venv/s3a/jars
	CROWDWISE_S3A_JARS=$(CURDIR)/.venv/s3a/jars $(BIN)/pytest -m spark tests/test_spark_s3a.py

# Exports made by the platforms' own code, which has an environment of its own.
test-platforms: .venv/tested .venv-platforms/installed
	CROWDWISE_PLATFORMS=$(CURDIR)/.venv-platforms/bin/python $(BIN)/pytest tests/test_platforms.py

# As many hostile cases as wanted, in every area of tests/attack; every failure says how to repeat it.
N ?= 10000
attack: .venv/tested
	$(BIN)/python -m tests.attack --cases $(N)

bench: .venv/tested
	$(BIN)/python -m benchmarks

bench-scale: .venv/tested
	$(BIN)/python -m benchmarks.scale

# Wide tables beside long ones, and 10^7 rows of the Postgres server that CROWDWISE_POSTGRES names.
bench-tables: .venv/tested
	$(BIN)/python -m benchmarks.tables

bench-spark: .venv/spark
	$(BIN)/python -m benchmarks.spark

bench-peers: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.peers

# What gold is worth on real crowds, against crowd-kit's Dawid-Skene with the same gold; needs CROWDWISE_DATA.
bench-gold: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.gold

# Numeric methods on real crowds and simulated ones: the tables in docs/numeric.md; needs CROWDWISE_DATA.
bench-numeric: .venv/tested
	$(BIN)/python -m benchmarks.numeric

# Replays what `crowdwise next` asks for on real crowds, beside other strategies, and writes docs/planning.md.
bench-planning: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.planning

# Replays an expert who decides items of real crowds by several plans, and writes docs/review.csv; needs CROWDWISE_DATA.
# Then the page in a browser with 10^6 labels; needs chromium.
bench-review: .venv/tested
	$(BIN)/python -m benchmarks.review
	$(BIN)/python -m benchmarks.review_page

# What is measured in docs/ordinal.md: ordered classes on seven real crowds; needs CROWDWISE_DATA.
bench-ordinal: .venv/tested
	$(BIN)/python -m benchmarks.ordinal

# Reading exports of Label Studio and Argilla, beside how their own packages read them.
bench-importing: .venv/installed .venv-platforms/installed
	CROWDWISE_PLATFORMS=$(CURDIR)/.venv-platforms/bin/python $(BIN)/python -m benchmarks.importing

# Goes on where an earlier run stopped; `make clean` forgets it. The committed results are in docs/reproduce.
reproduce: .venv/installed
	$(BIN)/python -m reproduce

# The constants of confidence and docs/confidence.md; scores are kept, `make clean` forgets them.
calibrate: .venv/installed
	$(BIN)/python -m calibrate

# The images in docs/images; needs chromium.
screenshots: .venv/tested
	$(BIN)/python -m benchmarks.screenshots

# The documentation as a site in build/site: pages of docs/ and the reference from docstrings; a broken link stops it.
site: .venv-docs/installed
	.venv-docs/bin/mkdocs build

clean:
	rm -rf .venv .venv-docs .venv-peers build .venv-platforms demo .benchmarks reproduced .calibrated

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("crowdwise needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report,review]'
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

.venv/spark: .venv/tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	touch $@

# Hadoop's jars for s3a:// are not in pyspark; of the packages on PyPI, this one has them. It is not installed, because it
# needs an older pyspark.
.venv/s3a/jars: .venv/spark
	rm -rf .venv/s3a && mkdir -p .venv/s3a/unpacked
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
		--dest .venv/s3a 'sagemaker-pyspark==1.4.5'
	tar -xzf .venv/s3a/sagemaker_pyspark-1.4.5.tar.gz -C .venv/s3a/unpacked --strip-components 3 \
		--wildcards '*/hadoop-aws-3.3.1.jar' '*/aws-java-sdk-bundle-1.11.901.jar'
	rm .venv/s3a/sagemaker_pyspark-1.4.5.tar.gz
	mv .venv/s3a/unpacked $@

.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check 'mkdocs>=1.6' 'mkdocstrings-python>=2.0' ruff
	touch $@

# crowd-kit and the older scikit-learn that it needs, and cleanlab, apart from everything else.
.venv-peers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	touch $@

# The platforms' own packages, apart from everything else: they need an older NumPy. toloka-kit 1.2.3 fails with newer
# httpx and cattrs.
.venv-platforms/installed: Makefile
	$(PYTHON) -m venv .venv-platforms
	.venv-platforms/bin/python -m pip install --quiet --disable-pip-version-check \
		'label-studio-sdk>=2.1' 'argilla>=2.8' 'datasets>=5.2' 'toloka-kit>=1.2' 'httpx<0.28' 'cattrs<23'
	touch $@
