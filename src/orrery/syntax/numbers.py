"""Numbers."""

LARGEST = 2**53 - 1
"""The largest whole number that every reader of JSON can hold exactly."""
