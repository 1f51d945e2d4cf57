"""The engines: they run a method on labels in memory, on disk or in a Spark cluster.

An engine cuts the items into parts, calls the method's `sweep` on every part and adds up the counts of all parts. The
iterations and the methods are the same for all engines.
"""
