"""Measurements on a host that allows them: a load in the middle of a run, with lock, undo record and recovery."""
