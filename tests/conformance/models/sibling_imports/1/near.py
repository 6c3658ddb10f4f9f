"""Next to model.py."""


def near():
    """Return seven."""
    return 7
