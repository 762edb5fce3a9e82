"""The cloud: a stand-in for the part of Azure's management API that brings one machine back."""
