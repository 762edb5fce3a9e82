"""Stripe, the payment processor (decision 1)."""
