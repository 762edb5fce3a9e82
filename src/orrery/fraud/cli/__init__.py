"""The commands of fraud screening."""
