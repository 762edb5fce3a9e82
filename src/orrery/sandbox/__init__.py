"""Stateful stand-ins for the vendors, for the demo and the tests."""
