"""Protocols of a few methods, with their value types: Orrery's interfaces to the outside."""
