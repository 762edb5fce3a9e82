"""The cockpit: one list of everything that waits for an answer, on its owner's machine (spec 3)."""
