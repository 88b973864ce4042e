"""The snapshots of a conversation, and all points of a session that can be gone back to."""
