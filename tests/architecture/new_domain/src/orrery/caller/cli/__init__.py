"""The commands of the guest."""
