"""The cloud port over Azure's management API, by its official libraries (extra `azure`)."""
