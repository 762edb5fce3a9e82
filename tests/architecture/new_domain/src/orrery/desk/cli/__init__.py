"""The commands of the desk."""
