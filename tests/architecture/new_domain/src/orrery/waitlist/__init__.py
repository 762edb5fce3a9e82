"""The waitlist: entries that people make, and the owner reads."""
