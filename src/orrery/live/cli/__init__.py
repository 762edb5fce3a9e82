"""The commands of the live counter."""
