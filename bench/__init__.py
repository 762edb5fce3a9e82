"""Measurements: each module here has a `main()` that measures both sides in one run and prints ratios."""
