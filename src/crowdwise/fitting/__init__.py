"""The base classes of all methods, the loops that run them, and the parameters that users set."""
