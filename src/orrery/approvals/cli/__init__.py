"""The commands of the approvals and of the secrets."""
