"""What workers said, without any I/O: labels, what is known besides, and simulated crowds."""
