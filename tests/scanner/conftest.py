"""Fixtures of the scanner's tests."""

from tests.support.scan_user import user

__all__ = ["user"]
