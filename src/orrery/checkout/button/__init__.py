"""A button that sells: what its form is answered."""
