"""A stateful stand-in for the analytics provider: tokens, realtime reports, quotas, visitors, a page."""
