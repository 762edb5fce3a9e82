"""What is searched for, each kind in a module of its own."""
