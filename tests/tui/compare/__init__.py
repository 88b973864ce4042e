"""Comparing models on the screen."""
