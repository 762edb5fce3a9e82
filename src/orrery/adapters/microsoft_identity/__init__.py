"""Microsoft's identity platform: people sign in by its own library, for one tenant at a time."""
