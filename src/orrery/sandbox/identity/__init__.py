"""The identity provider: a stand-in for what of Microsoft Entra ID signs a person in to one of two tenants."""
