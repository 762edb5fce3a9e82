"""One module for each vendor: it implements a port with that vendor's interface."""
