"""Fakes, each proved equal to the real thing by tests/contract."""
