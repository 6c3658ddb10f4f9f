"""A finished analysis in the forms that people and programs read; nothing is worked out here."""
