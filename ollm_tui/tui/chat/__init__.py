"""The chat screen and what stands on it."""
