"""Keeping sessions the same on several machines, through a git remote."""
