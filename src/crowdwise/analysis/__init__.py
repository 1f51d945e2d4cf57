"""What can be said about a crowd and a result: accuracy, agreement, comparison, explanation."""
