"""The live visitor count: one writer fills a shared cache, and every reader reads it (spec 2)."""
