"""Anything to rows: text, JSON, Excel, databases, clouds, matrices and tables in memory."""
