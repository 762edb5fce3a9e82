"""The tracks: whose data something is, who may sign in, and where data may go (spec 3, Authentication 4)."""
