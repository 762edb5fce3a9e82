"""The commands of the checkout, and of the account at the processor."""
