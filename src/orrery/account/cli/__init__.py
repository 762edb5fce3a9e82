"""The commands of the account at the processor."""
