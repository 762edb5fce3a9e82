"""The payment processor's stand-in: API, hosted payment page, signed webhooks."""
