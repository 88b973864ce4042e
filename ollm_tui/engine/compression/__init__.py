"""Compression of the context: older messages are replaced by checkpoints or cut short."""
