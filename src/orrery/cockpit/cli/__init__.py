"""The commands of the cockpit, but for the page itself."""
