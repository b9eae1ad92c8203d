"""Fixtures that every test may ask for."""

from tests.platform_fixture import platform

__all__ = ["platform"]
