"""Outages as one story: the cloud, its jobs, the service manager, pings and pushes in one line of time."""
