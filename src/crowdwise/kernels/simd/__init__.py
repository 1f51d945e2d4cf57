"""Several numbers in one register of the processor, and their exponential."""
