"""`TIE`: how close two scores are that are taken for the same."""

from typing import Final

# Two scores are tied if they differ by less than this, relative to the larger one. Equal scores may differ by rounding
# errors, which depend on the order of addition and grow with the iterations.
TIE: Final = 1e-7
