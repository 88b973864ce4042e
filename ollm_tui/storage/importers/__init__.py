"""Data of earlier programs, read into today's values and never altered where it lies."""
