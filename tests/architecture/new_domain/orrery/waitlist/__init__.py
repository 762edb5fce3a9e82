"""People who wait for what is not sold yet."""
