"""The page of measurements: made of what the last rounds of each measurement found, and never by hand."""
