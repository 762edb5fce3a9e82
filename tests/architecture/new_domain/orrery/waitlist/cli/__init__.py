"""The commands of the waiting list."""
