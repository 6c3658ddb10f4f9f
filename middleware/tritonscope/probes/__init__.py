"""Probes: small objects with `start()` and `stop()` that measure one batch, and never release the GIL."""
