"""The results of methods: the answers to the items, and what was learned about the workers."""
