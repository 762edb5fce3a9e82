"""Who has access: from the processor's events to access records, and what the owner changes in them."""
