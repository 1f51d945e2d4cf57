"""Log-linear models: a matrix for every worker and every item."""
