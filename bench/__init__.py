"""Measurements: each module of this package has a `main()` that measures both sides in one run and prints ratios."""
