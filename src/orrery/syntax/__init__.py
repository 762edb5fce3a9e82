"""What a text must look like, by one rule for every room: pure."""
