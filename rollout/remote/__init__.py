"""The way to a host: one method, `run`, over SSH, on this machine, from a recording, or on a scripted fake."""
