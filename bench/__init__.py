"""Measurements against the peer, in one run: `make bench`."""
