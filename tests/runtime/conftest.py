"""The stores of the conformance suites, for what stands on them."""

from tests.conformance.conftest import anyio_backend, clock, store

__all__ = ["anyio_backend", "clock", "store"]
