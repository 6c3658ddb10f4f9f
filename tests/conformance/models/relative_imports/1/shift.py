"""What model.py imports."""

AMOUNT = 10


def shift(x):
    """Return x and five."""
    return x + 5
