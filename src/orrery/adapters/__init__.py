"""One file a vendor: each implements a port in that vendor's words."""
