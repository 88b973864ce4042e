"""Sessions as a user handles them: recorded, listed, opened, followed, cleaned up."""
