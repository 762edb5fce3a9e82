"""The composition root of the role scan: its settings, its secrets and its files."""
