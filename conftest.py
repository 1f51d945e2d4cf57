"""What is collected: modules of the extra spark only where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyspark") else ["src/crowdwise/*/*spark*.py", "studies/benchmarks/spark.py"]
