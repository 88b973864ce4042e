"""Several conversations at once: what goes on in each, and the way from one to another."""
