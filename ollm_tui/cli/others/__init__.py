"""Commands about what others made or use: their sessions, extensions, a browser."""
