"""Benchmarks of speed and memory, also in comparison with other programs; `make bench` runs most of them."""
