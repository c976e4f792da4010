"""What people and programs read afterwards: one model of a run, and one renderer a format."""
