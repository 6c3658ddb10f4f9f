"""A pipeline as a Python model: it has an ensemble's interface and runs the ensemble's graph by BLS."""
