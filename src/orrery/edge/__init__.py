"""Where HTTP comes in: problems, authentication, limits, listeners."""
