"""The owner's page: it renders the panels of all modules and imports none of them."""
