"""What is searched for, each kind in its module."""
