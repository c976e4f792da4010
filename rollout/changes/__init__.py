"""What a host needs, as values: facts and settings in, changes with their scripts out. Nothing here does anything."""
