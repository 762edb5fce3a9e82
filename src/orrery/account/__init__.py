"""The account at the payment processor: its reads, its branding, its payment methods (spec 1)."""
