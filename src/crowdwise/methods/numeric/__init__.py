"""The methods for numeric labels, with one file for each; the table of them is `crowdwise.methods.NUMERIC_METHODS`."""
