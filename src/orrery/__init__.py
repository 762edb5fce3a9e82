"""Orrery: checkout, live counter, gateway, cockpit and tenant separation for one owner."""
