"""A real tritonserver on this machine without Docker, the demo's parts, and a load generator."""
