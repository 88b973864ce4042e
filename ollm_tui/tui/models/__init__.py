"""Choosing the model and the mode."""
