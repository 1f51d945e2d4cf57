"""Objects ranked by comparisons of two of them, by judges who differ: `rank`."""
