"""The paper's tables and figures, and the methods published since, by one command: `python -m reproduce`."""

import os

# Before NumPy is loaded: one kind of dot product on every x86-64 machine. GLAD without priors magnifies their rounding
# until it shows in its accuracy, and the committed results are to be had anywhere.
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
