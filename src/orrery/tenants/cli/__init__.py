"""The commands of `orrery tenants`."""
