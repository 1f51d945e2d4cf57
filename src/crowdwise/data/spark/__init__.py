"""Labels in a Spark cluster: parts on its executors. Needs the extra `spark`."""
