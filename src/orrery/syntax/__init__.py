"""The syntax of texts, by one rule for all parts. Pure."""
