"""Paid-product checkout (spec 1)."""
