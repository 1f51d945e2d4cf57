"""Small numerics that several packages use: how kernels are compiled and kept, SIMD lanes, small matrices.

A kernel is a loop over labels that Numba compiles. It is in the file `kernel.py`, or `<name>_kernel.py`, beside the
module that it belongs to. Kernels release the interpreter lock, so that several threads can run them at the same time
on different items.

All kernels take the labels in the same form: `workers[e]` and `labels[e]` are the worker and the class of label e. The
labels of item i are those from `item_starts[i]` up to, not including, `item_starts[i + 1]`; within an item they are
sorted by worker. Workers, items and classes are numbers from 0 on. In docstrings, the axes of an array are in brackets:
(workers, classes) is an array with a row for every worker and a column for every class.

A vote may name several classes; it then has a row for each. `continued[e]` is 1 if row e continues the vote of the row
before, and 0 if it begins a vote. `continued` is None if every vote names one class; Numba then leaves the code for it
out.
"""

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
