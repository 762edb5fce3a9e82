"""The commands about secrets."""
