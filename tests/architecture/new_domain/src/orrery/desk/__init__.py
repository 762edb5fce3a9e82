"""What a person sees at a desk: a module of another role than the site."""
