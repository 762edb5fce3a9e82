"""The commands of the checkout."""
