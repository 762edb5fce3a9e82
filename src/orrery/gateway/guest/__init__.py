"""What runs on the gateway's host: scripts without Python, their installation, and a drill."""
