"""What every domain stands on."""
