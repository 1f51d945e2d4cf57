"""Fits the constants that turn the scores of methods into confidence: `python -m studies.calibrate`.

This is the one place of the project where truth is used for fitting: one number for each method, and how far confidence
is off on crowds that this number was not fitted to. Nothing else may ever be fitted to these truths.
"""
