"""Changes that need the owner's signature: intents, signatures, and their log. It knows no vendor."""
