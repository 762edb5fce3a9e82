"""The commands of the scanner: plain, so that a hook starts fast."""
