"""The model's file raises while it is imported."""

raise ValueError("no such luck")
