"""How many items truly pass, by judges and some items whose truth is known: `rate`."""
