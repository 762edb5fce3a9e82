"""The owner's page: it renders the panels of all modules and knows none of them."""
