"""Faults injected into the running local platform while a storm is sent to it: `make chaos`."""
