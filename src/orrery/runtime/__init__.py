"""The mechanisms that all domains use."""
