"""Small questions and choices over a screen."""
