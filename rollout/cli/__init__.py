"""The command line: one file a command. Nobody imports this room."""
