"""Folding older messages away: what is kept of them, and how the context gets smaller."""
