"""Crowds too large for memory: parts on disk and in a Spark cluster."""
