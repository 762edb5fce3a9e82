"""What is inside a file: archives, office files, PDF, images and mail, as texts to be searched."""
