"""Fraud testing: clusters of declines, the processor's lists, the incident log (spec 1; decision 18)."""
