"""Programs for those who work on crowdwise."""
