"""One way in: which reader opens an input, and `read_labels`, `read_truth` and `questions`."""
