"""Reproduces the tables and figures of the paper, and compares newer methods: `python -m studies.reproduce`."""

import os

# OpenBLAS computes dot products differently on different processors. The rounding errors change the accuracy of GLAD
# without priors. With this setting all x86-64 machines give the committed results. NumPy reads it when it is imported.
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
