"""Where the labels are while a method sweeps over them: in memory, on disk, in a Spark cluster.

An engine cuts the items into parts, maps a method's sweep over them and adds up what it counts; the loop above it is
the same for all, and so is every method.
"""
