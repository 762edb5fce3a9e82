"""The pages that lead to live, typed on a machine of its own."""
