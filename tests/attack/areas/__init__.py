"""The areas of attack: every file here has an `AREA`."""
