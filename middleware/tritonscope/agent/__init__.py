"""The agent: reads the stubs' rings and sends OpenTelemetry spans. One process a host."""
