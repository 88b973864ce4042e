"""Commands about what others made: their sessions, and extensions."""
