"""Protocols of a few methods, with their value types: our words for the outside world."""
