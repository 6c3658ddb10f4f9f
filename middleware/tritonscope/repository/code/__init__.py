"""What the syntax tree of a Python model tells, which is never run: the models it calls, how `execute` works."""
