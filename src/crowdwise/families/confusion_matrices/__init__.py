"""Workers with a confusion matrix each."""
