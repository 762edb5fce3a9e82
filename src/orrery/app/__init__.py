"""The composition root: what a deployment is made of, from its settings."""
