"""The commands of the waitlist."""
