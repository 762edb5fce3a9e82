"""A corpus of planted leaks and of near misses: all of the first are found, and none of the second."""
