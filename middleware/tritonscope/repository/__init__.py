"""Model repositories: config.pbtxt to stages and pipelines, and overlays whose Python stages are observed."""
