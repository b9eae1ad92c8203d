"""Decisions and documents: pure, no I/O, no AWS client."""
