"""The typed settings and how they are loaded."""
