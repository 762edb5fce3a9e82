"""The gateway's guest on a real systemd, in name spaces of its own."""
