"""The scanner: no sentence of track A in anything public (spec 3, Authentication 4)."""
