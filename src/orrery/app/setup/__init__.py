"""What `orrery setup` is made of: the steps, the answers, and the commands that try them."""
