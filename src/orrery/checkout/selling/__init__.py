"""What is sold: the products, their parameters, and the sessions that sell them."""
