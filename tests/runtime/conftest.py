"""The stores of the conformance suites, for what stands on them."""

from tests.conformance.conftest import clock, store

__all__ = ["clock", "store"]
