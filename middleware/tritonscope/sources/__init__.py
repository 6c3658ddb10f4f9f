"""Where evidence comes from; every source yields the same types of evidence."""
