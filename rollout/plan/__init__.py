"""What will be done, in which order, and when to stop: values and pure functions, no host is touched here."""
