"""Which secrets there are, watching them, and checking them."""
