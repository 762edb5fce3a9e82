"""The cloud: a stand-in for what of Azure's management API brings one machine back, and for what hangs on it."""
