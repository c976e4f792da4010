"""The only room that changes a host: its phases in one fixed order, the lock, and the way back."""
