"""Votes with a weight for every worker."""
