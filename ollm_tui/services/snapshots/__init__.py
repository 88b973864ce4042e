"""Snapshots as a user handles them: taken, listed, compared, and gone back to."""
