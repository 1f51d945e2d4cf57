"""How methods infer: the one loop, and what families of methods share."""
