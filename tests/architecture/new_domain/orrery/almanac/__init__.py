"""The almanac: a module whose names have changed in two releases."""
