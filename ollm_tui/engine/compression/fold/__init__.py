"""Messages folded into checkpoints."""
