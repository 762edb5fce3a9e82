"""The gateway: what brings its service back, what its guest reports to the site, and what that means."""
