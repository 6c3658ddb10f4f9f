"""The analyzer: evidence in, findings out."""
